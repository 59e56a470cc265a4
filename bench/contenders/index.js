// Who takes part, by name. Each contender runs in a process of its own (worker.js).
import { copyDatabase } from "../databases.js";

/**
 * @typedef {object} Contender
 * @property {(commit: import("../workload.js").Commit) => void | Promise<void>} commit
 * @property {() => void | Promise<void>} close
 */

/**
 * @typedef {object} Entry
 * @property {string} label
 * @property {boolean} [settles] whether what it wrote must be synced for it before the next one's turn
 * @property {"plain" | "indexed"} source the database it starts from: as any program makes it, or as the library does
 * @property {boolean} copies whether it works on a file that must be there
 * @property {number} lanes commits in flight; 0 for calls that block
 * @property {(source: string, path: string) => Contender | Promise<Contender>} open
 */

/** Peers and library are imported when they are needed: no process loads what it does not measure. */
const native = () => import("./native.js");
const perdure = () => import("./perdure.js");
const bound = () => import("./bound.js");

/** @type {Readonly<Record<string, Entry>>} */
export const CONTENDERS = {
  "native-full": {
    label: "better-sqlite3, WAL, FULL",
    source: "plain",
    copies: true,
    lanes: 0,
    open: async (_source, path) => (await native()).openNative(path, "FULL"),
  },
  "native-normal": {
    label: "better-sqlite3, WAL, NORMAL",
    settles: true,
    source: "plain",
    copies: true,
    lanes: 0,
    open: async (_source, path) => (await native()).openNative(path, "NORMAL"),
  },
  "native-indexed": {
    label: "better-sqlite3, WAL, FULL, perdure's indexes",
    source: "indexed",
    copies: true,
    lanes: 0,
    open: async (_source, path) => (await native()).openNative(path, "FULL"),
  },
  naive: {
    label: "sql.js, export + write + fsync + rename",
    source: "plain",
    copies: false,
    lanes: 0,
    open: async (source, path) => (await import("./naive.js")).openNaive(source, path),
  },
  strict: {
    label: "SqliteStore, file, strict",
    source: "indexed",
    copies: true,
    lanes: 0,
    open: async (_source, path) => (await perdure()).openFileStore(path, "strict"),
  },
  relaxed: {
    label: "SqliteStore, file, relaxed",
    settles: true,
    source: "indexed",
    copies: true,
    lanes: 0,
    open: async (_source, path) => (await perdure()).openFileStore(path, "relaxed"),
  },
  memory: {
    label: "SqliteStore, memory",
    source: "indexed",
    copies: false,
    lanes: 0,
    open: async (source) => (await perdure()).openMemoryStore(source),
  },
  "async-1": asyncEntry(1),
  "async-8": asyncEntry(8),
  "async-64": asyncEntry(64),
  bound: {
    label: "bound: SqliteStore, one write, one sync",
    source: "indexed",
    copies: false,
    lanes: 0,
    open: async (source, path) => (await bound()).openBound(source, path),
  },
  "bound-64": {
    label: "bound: the same, 64 in flight",
    source: "indexed",
    copies: false,
    lanes: 64,
    open: async (source, path) => (await bound()).openAsyncBound(source, path),
  },
};

/** @param {number} lanes @returns {Entry} */
function asyncEntry(lanes) {
  return {
    label: `AsyncSqliteStore, file, strict, ${lanes} in flight`,
    source: "indexed",
    copies: true,
    lanes,
    open: async (_source, path) => (await perdure()).openAsyncFileStore(path),
  };
}

/** @param {string} name @returns {Entry} */
export function contenderNamed(name) {
  const entry = CONTENDERS[name];
  if (entry === undefined) throw new Error(`no contender is called ${name}`);
  return entry;
}

/**
 * Opens a contender over a copy of its source.
 *
 * @param {string} name
 * @param {string} source
 * @param {string} path
 */
export async function openContender(name, source, path) {
  const entry = contenderNamed(name);
  if (entry.copies) copyDatabase(source, path);
  return entry.open(source, path);
}
