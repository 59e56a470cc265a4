// Opening a database that was left by commits: the store's whole way until it answers a question, and reading the same
// bytes with nothing around. Each brings its own way to lay one.
import { AsyncSqliteStore, SqliteStore } from "perdure";
import { indexedDbAdapter } from "perdure/indexeddb";
import { openOpfs } from "perdure/opfs";
import { executionId, makeCommits, makeRandom } from "../../workload.js";
import { openNaive, reopenNaive } from "./contenders/naive.js";
import { openOpfsStore } from "./contenders/perdure-opfs.js";
import { openIndexedDb } from "./contenders/perdure.js";

/** @typedef {import("./contenders/index.js").Image} Image */

/** Commits made on a database before it is opened: a log that was not moved yet is part of what is opened. */
const COMMITS = 50;
/** So many in a row leave about as much log as there may ever be at 50 MB: twice the database. */
const MANY_COMMITS = 20_000;
/** In flight while those are made. */
const MANY_LANES = 64;

/**
 * @typedef {object} Way
 * @property {((place: string, image: Image) => Promise<void>) | null} lay null: somebody else's
 * @property {(place: string) => Promise<number>} open returns bytes, or Executions found
 */

/**
 * @param {import("./contenders/open.js").Open} open
 * @param {number} [count]
 * @param {number} [lanes]
 * @returns {NonNullable<Way["lay"]>}
 */
const layBy =
  (open, count = COMMITS, lanes = 1) =>
  async (place, image) => {
    const contender = await open(place, "relaxed", image);
    const commits = makeCommits(count, lanes, new Uint32Array(image.rows).fill(1), makeRandom(3));
    const lane = async (/** @type {number} */ first) => {
      for (let i = first; i < count; i += lanes) {
        await contender.commit(/** @type {import("../../workload.js").Commit} */ (commits[i]));
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)));
    await contender.close();
  };

/** @param {string} place */
async function openPerdure(place) {
  const store = await AsyncSqliteStore.create(indexedDbAdapter(place, { mustExist: true }));
  const found = await store.load(executionId(1));
  await store.close();
  return found === null ? 0 : 1;
}

/** @type {Readonly<Record<string, Way>>} */
export const WAYS = {
  perdure: { lay: layBy(openIndexedDb), open: openPerdure },
  bare: { lay: null, open: readRecords },
  "perdure-long": { lay: layBy(openIndexedDb, MANY_COMMITS, MANY_LANES), open: openPerdure },
  "bare-long": { lay: null, open: readRecords },
  "perdure-opfs": {
    lay: layBy(openOpfsStore),
    async open(place) {
      const adapter = await openOpfs(place, { mustExist: true });
      const store = await SqliteStore.create(adapter);
      const found = store.load(executionId(1));
      store.close();
      await adapter.closed;
      return found === null ? 0 : 1;
    },
  },
  "bare-file": { lay: null, open: readFiles },
  naive: {
    async lay(place, image) {
      await (await openNaive(place, "relaxed", image)).close();
    },
    open: reopenNaive,
  },
};

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const settled = (request) =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });

/** Every record there is, in one call for each object store. @param {string} place */
async function readRecords(place) {
  const database = await settled(indexedDB.open(`perdure:${place}`));
  const names = [...database.objectStoreNames];
  const transaction = database.transaction(names, "readonly");
  const all = await Promise.all(names.map((name) => settled(transaction.objectStore(name).getAll())));
  database.close();
  return all.flat().reduce((/** @type {number} */ sum, value) => sum + value.byteLength, 0);
}

const CHUNK_BYTES = 1024 * 1024;

/** The database's file and its log. @param {string} place */
async function readFiles(place) {
  const root = await navigator.storage.getDirectory();
  let bytes = 0;
  for (const name of [place, `${place}-wal`]) {
    const file = await root.getFileHandle(name).catch(() => null);
    if (file === null) continue;
    // Only workers have it.
    const handle = await /** @type {any} */ (file).createSyncAccessHandle();
    const chunks = [];
    for (let at = 0; at < handle.getSize(); at += CHUNK_BYTES) {
      const chunk = new Uint8Array(CHUNK_BYTES);
      bytes += handle.read(chunk, { at });
      chunks.push(chunk);
    }
    handle.close();
  }
  return bytes;
}
