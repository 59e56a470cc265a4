// What checkpoints do to the commits around them, in a large database. The adapter is watched at the port: a call to
// checkpoint did something when it asked for pages.
import { copyDatabase } from "../databases.js";
import { fileAdapter, SqliteStore } from "../perdure.js";
import { percentile } from "../stats.js";
import { makeCommits, makeRandom } from "../workload.js";

/** @typedef {import("../../src/port.ts").SyncAdapter} SyncAdapter */
/** @typedef {{ p50: number, p99: number, max: number, commits: number }} Latencies milliseconds */
/** @typedef {{ calls: number, pages: number, longestMs: number, during: Latencies | null, without: Latencies | null, movedMs: number | null }} Result */

/** So many commits after the last work of a checkpoint still feel it: the system writes out what it left. */
const AFTERMATH = 5;
const BATCH = 100;

/** @param {{ source: string, path: string, rows: number, commits: number }} options @returns {Promise<Result>} */
export async function run({ source, path, rows, commits }) {
  copyDatabase(source, path);
  const watched = { calls: 0, pages: 0, longestMs: 0 };
  const store = await SqliteStore.create(watch(fileAdapter(path, {}), watched));
  const versions = new Uint32Array(rows).fill(1);
  const random = makeRandom(rows);
  /** @type {number[]} */
  const during = [];
  /** @type {number[]} */
  const without = [];
  let sinceWork = Infinity;
  for (let done = 0; done < commits; done += BATCH) {
    for (const { execution, effects } of makeCommits(BATCH, 1, versions, random)) {
      const callsBefore = watched.calls;
      const start = performance.now();
      store.commit(execution, effects);
      const ms = performance.now() - start;
      sinceWork = watched.calls > callsBefore ? 0 : sinceWork + 1;
      // The first batch warms up.
      if (done > 0) (sinceWork <= AFTERMATH ? during : without).push(ms);
    }
  }
  store.close();
  const [a, b] = [tell(during), tell(without)];
  return { ...watched, during: a, without: b, movedMs: a !== null && b !== null ? a.p99 - b.p99 : null };
}

/** @param {SyncAdapter} adapter @param {{ calls: number, pages: number, longestMs: number }} watched @returns {SyncAdapter} */
function watch(adapter, watched) {
  return {
    ...adapter,
    checkpoint(pages) {
      const before = watched.pages;
      const start = performance.now();
      adapter.checkpoint({
        pageSize: pages.pageSize,
        pageCount: pages.pageCount,
        page(number) {
          watched.pages++;
          return pages.page(number);
        },
      });
      if (watched.pages === before) return;
      watched.calls++;
      watched.longestMs = Math.max(watched.longestMs, performance.now() - start);
    },
  };
}

/** @param {number[]} latencies @returns {Latencies | null} */
function tell(latencies) {
  if (latencies.length === 0) return null;
  return {
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    max: percentile(latencies, 1),
    commits: latencies.length,
  };
}
