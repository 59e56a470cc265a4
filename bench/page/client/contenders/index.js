// Who takes part, by name. A contender lives in the window, or in a dedicated worker of its own when it stores in the
// Origin Private File System, whose synchronous handles exist only there.

/** @typedef {"strict" | "relaxed"} Durability */
/** @typedef {"indexeddb" | "opfs"} Storage */

/**
 * @typedef {object} Image the database to start from
 * @property {number} rows Executions in it
 * @property {string} plain where it can be fetched, as any program makes it
 * @property {string} indexed the same, as the library makes it
 */

/**
 * @typedef {object} Contender
 * @property {(commit: import("../../../workload.js").Commit) => void | Promise<void>} commit
 * @property {() => void | Promise<void>} close
 */

/**
 * @typedef {object} Entry
 * @property {Storage} storage
 * @property {"window" | "worker"} where
 * @property {"ours" | "bare" | "naive" | "peer"} kind
 * @property {number} lanes commits in flight
 * @property {Record<Durability, string>} label
 * @property {Durability[]} [weaker] where it promises less than the contest asks
 */

/** @param {string} name @param {string} strict @param {string} relaxed @returns {Record<Durability, string>} */
const label = (name, strict, relaxed) => ({ strict: `${name}, ${strict}`, relaxed: `${name}, ${relaxed}` });
/** @param {string} name */
const same = (name) => label(name, "strict", "relaxed");
/** @param {Storage} storage @param {Record<Durability, string>} text @param {Durability[]} [weaker] @returns {Entry} */
const peer = (storage, text, weaker = []) => ({
  storage,
  where: storage === "opfs" ? "worker" : "window",
  kind: "peer",
  lanes: 1,
  label: text,
  weaker,
});

const NAIVE = "sql.js export() + idb-keyval set";

/** @type {Readonly<Record<string, Entry>>} */
export const ENTRIES = {
  "bare-records": {
    storage: "indexeddb",
    where: "window",
    kind: "bare",
    lanes: 1,
    label: same("bare IndexedDB put of the records that perdure writes"),
  },
  "bare-pages": {
    storage: "indexeddb",
    where: "window",
    kind: "bare",
    lanes: 1,
    label: same("bare IndexedDB put of the whole pages that changed"),
  },
  perdure: { storage: "indexeddb", where: "window", kind: "ours", lanes: 1, label: same("perdure/indexeddb") },
  "perdure-64": {
    storage: "indexeddb",
    where: "window",
    kind: "ours",
    lanes: 64,
    label: same("perdure/indexeddb, 64 in flight"),
  },
  IDBBatchAtomicVFS: peer("indexeddb", label("wa-sqlite IDBBatchAtomicVFS", "FULL", "NORMAL, waits for less"), [
    "relaxed",
  ]),
  IDBMirrorVFS: peer("indexeddb", label("wa-sqlite IDBMirrorVFS", "FULL, forced to be strict", "FULL, as it is")),
  naive: {
    storage: "indexeddb",
    where: "window",
    kind: "naive",
    lanes: 1,
    label: { strict: NAIVE, relaxed: NAIVE },
  },
  "perdure-opfs": { storage: "opfs", where: "worker", kind: "ours", lanes: 1, label: same("perdure/opfs") },
  AccessHandlePoolVFS: peer("opfs", label("wa-sqlite AccessHandlePoolVFS", "WAL FULL", "WAL NORMAL")),
  OPFSWriteAheadVFS: peer("opfs", label("wa-sqlite OPFSWriteAheadVFS", "FULL", "NORMAL")),
  OPFSCoopSyncVFS: peer("opfs", label("wa-sqlite OPFSCoopSyncVFS", "WAL FULL", "WAL NORMAL")),
  OPFSAdaptiveVFS: peer("opfs", label("wa-sqlite OPFSAdaptiveVFS", "WAL FULL", "WAL NORMAL")),
  "opfs-sahpool": peer("opfs", label("sqlite-wasm opfs-sahpool", "WAL FULL", "WAL NORMAL")),
};
