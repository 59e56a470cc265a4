// Looks at what a commit of the library on IndexedDB really does there: which transactions it opens and what it stores.
// The bare contenders then store the same. Not timed, and nobody else is at work meanwhile.
import { AsyncSqliteStore } from "perdure";
import { indexedDbAdapter } from "perdure/indexeddb";
import { makeCommits, makeRandom } from "../../workload.js";
import { layIndexedDb } from "./contenders/perdure.js";

/**
 * @typedef {object} Commit what one did
 * @property {unknown[]} values that it stored
 * @property {number} pages that it changed
 * @property {number} pageBytes of those, whole
 * @property {string[]} calls on object stores, and transactions by their mode and durability
 */

/** @type {Commit[]} */
let commits = [];

/** @returns {readonly Commit[]} */
export function observed() {
  if (commits.length === 0) throw new Error("nothing was observed yet");
  return commits;
}

/**
 * @param {string} place
 * @param {import("./contenders/index.js").Durability} durability
 * @param {import("./contenders/index.js").Image} image
 * @param {number} count commits to look at
 */
export async function observe(place, durability, image, count) {
  await layIndexedDb(place, image);
  const adapter = indexedDbAdapter(place, { durability, mustExist: true });
  /** @type {Commit} */
  let current = { values: [], pages: 0, pageBytes: 0, calls: [] };
  const store = await AsyncSqliteStore.create({
    ...adapter,
    append(delta, after) {
      current.pages += delta.pages.size;
      current.pageBytes += delta.pages.size * delta.pageSize;
      return adapter.append(delta, after);
    },
  });
  const stop = listen((call, value) => {
    current.calls.push(call);
    if (value !== undefined) current.values.push(value);
  });
  commits = [];
  try {
    const versions = new Uint32Array(image.rows).fill(1);
    for (const { execution, effects } of makeCommits(count, 1, versions, makeRandom(7))) {
      current = { values: [], pages: 0, pageBytes: 0, calls: [] };
      await store.commit(execution, effects);
      commits.push(current);
    }
  } finally {
    stop();
    await store.close();
  }
  return summary();
}

/** Means of what was seen. */
function summary() {
  const mean = (/** @type {(one: Commit) => number} */ of) =>
    commits.reduce((sum, one) => sum + of(one), 0) / commits.length;
  /** @type {Record<string, number>} */
  const calls = {};
  for (const call of commits.flatMap((one) => one.calls)) calls[call] = (calls[call] ?? 0) + 1 / commits.length;
  return {
    commits: commits.length,
    records: mean(({ values }) => values.length),
    recordBytes: mean(({ values }) => values.reduce((/** @type {number} */ sum, value) => sum + bytesIn(value), 0)),
    pages: mean(({ pages }) => pages),
    pageBytes: mean(({ pageBytes }) => pageBytes),
    calls,
  };
}

/** @param {unknown} value @returns {number} bytes of the arrays in it */
function bytesIn(value) {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((/** @type {number} */ sum, part) => sum + bytesIn(part), 0);
}

/** @param {(call: string, value?: unknown) => void} tell @returns {() => void} ends it */
function listen(tell) {
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (stores, mode, options) {
    tell(`transaction ${mode ?? "readonly"} ${options?.durability ?? "default"}`);
    return transaction.call(this, stores, mode, options);
  };
  const store = /** @type {Record<string, any>} */ (/** @type {unknown} */ (IDBObjectStore.prototype));
  const names = ["add", "put", "delete", "clear", "get", "getKey", "getAll", "getAllKeys", "count", "openCursor"];
  const originals = names.map((name) => /** @type {const} */ ([name, store[name]]));
  for (const [name, original] of originals) {
    store[name] = function (/** @type {unknown[]} */ ...args) {
      tell(name, name === "add" || name === "put" ? args[0] : undefined);
      return original.apply(this, args);
    };
  }
  return () => {
    IDBDatabase.prototype.transaction = transaction;
    for (const [name, original] of originals) store[name] = original;
  };
}
