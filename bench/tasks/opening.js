// Opening a large file, in turn with just reading it.
import { readFileSync } from "node:fs";
import { copyDatabase, databaseBytes } from "../databases.js";
import { SqliteStore } from "../perdure.js";
import { median } from "../stats.js";
import { collectGarbage } from "../task.js";

/** @typedef {{ mib: number, coldMs: number, openMs: number, closeMs: number, readMs: number, ratio: number }} Result */

/** @param {{ source: string, path: string, times: number }} options @returns {Promise<Result>} */
export async function run({ source, path, times }) {
  copyDatabase(source, path);
  // Both find the file in the system's cache; the first opening starts the engine as well.
  readFileSync(path);
  const cold = await timed(() => SqliteStore.create(path));
  cold.result.close();
  /** @type {number[]} */
  const opens = [];
  /** @type {number[]} */
  const closes = [];
  /** @type {number[]} */
  const reads = [];
  for (let i = 0; i < times; i++) {
    collectGarbage();
    reads.push((await timed(() => readFileSync(path))).ms);
    collectGarbage();
    const { ms, result: store } = await timed(() => SqliteStore.create(path));
    opens.push(ms);
    closes.push((await timed(() => store.close())).ms);
  }
  return {
    mib: databaseBytes(path) / 2 ** 20,
    coldMs: cold.ms,
    openMs: median(opens),
    closeMs: median(closes),
    readMs: median(reads),
    ratio: median(opens.map((open, i) => open / /** @type {number} */ (reads[i]))),
  };
}

/** @template T @param {() => T | Promise<T>} work */
async function timed(work) {
  const start = performance.now();
  const result = await work();
  return { result, ms: performance.now() - start };
}
