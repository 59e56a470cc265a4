// wa-sqlite, in the release that is kept up (@journeyapps/wa-sqlite), on each of its file systems that keeps what it is
// told, used as its documentation says: prepared statements, the mode its file system is made for.
import * as SQLite from "@journeyapps/wa-sqlite";
import { SCHEMA } from "../../../peer-sql.js";
import { FILL_ROWS, FILL_STATEMENTS, rowsOf, STATEMENTS, stepsOf } from "../steps.js";
import { makeStrict } from "./strict.js";

/** @typedef {import("./index.js").Contender} Contender */
/** @typedef {import("./index.js").Durability} Durability */
/** @typedef {import("../steps.js").Values} Values */

/** The builds: one whose file system answers at once, two whose file system may wait. */
const BUILDS = {
  plain: () => import("@journeyapps/wa-sqlite/dist/wa-sqlite.mjs"),
  asyncify: () => import("@journeyapps/wa-sqlite/dist/wa-sqlite-async.mjs"),
  jspi: () => import("@journeyapps/wa-sqlite/dist/wa-sqlite-jspi.mjs"),
};

/** The faster of the two that may wait needs promises in WebAssembly. */
const waiting = () => ("Suspending" in WebAssembly ? "jspi" : "asyncify");

/**
 * @typedef {object} Setup
 * @property {() => keyof typeof BUILDS} build
 * @property {() => Promise<any>} load
 * @property {Record<Durability, string[]>} pragmas
 * @property {boolean} [strictByForce] it never asks IndexedDB for strict transactions: it is made to
 */

/** SQLite's own write-ahead log needs shared memory, or nobody to share with. */
const log = {
  strict: ["locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL"],
  relaxed: ["locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=NORMAL"],
};
/** What keeps a log, or something like it, of its own. */
const own = { strict: ["synchronous=FULL"], relaxed: ["synchronous=NORMAL"] };

/** @type {Readonly<Record<string, Setup>>} */
const SETUPS = {
  IDBBatchAtomicVFS: {
    build: waiting,
    load: async () => (await import("@journeyapps/wa-sqlite/src/examples/IDBBatchAtomicVFS.js")).IDBBatchAtomicVFS,
    pragmas: own,
  },
  IDBMirrorVFS: {
    build: waiting,
    load: async () => (await import("@journeyapps/wa-sqlite/src/examples/IDBMirrorVFS.js")).IDBMirrorVFS,
    // FULL waits for the transaction, NORMAL not even for that.
    pragmas: { strict: ["synchronous=FULL"], relaxed: ["synchronous=FULL"] },
    strictByForce: true,
  },
  AccessHandlePoolVFS: {
    build: () => "plain",
    load: async () => (await import("@journeyapps/wa-sqlite/src/examples/AccessHandlePoolVFS.js")).AccessHandlePoolVFS,
    pragmas: log,
  },
  OPFSCoopSyncVFS: {
    build: () => "plain",
    load: async () => (await import("@journeyapps/wa-sqlite/src/examples/OPFSCoopSyncVFS.js")).OPFSCoopSyncVFS,
    pragmas: log,
  },
  OPFSAdaptiveVFS: {
    build: waiting,
    load: async () => (await import("@journeyapps/wa-sqlite/src/examples/OPFSAdaptiveVFS.js")).OPFSAdaptiveVFS,
    pragmas: log,
  },
  OPFSWriteAheadVFS: {
    build: () => "plain",
    load: async () => (await import("@journeyapps/wa-sqlite/src/examples/OPFSWriteAheadVFS.js")).OPFSWriteAheadVFS,
    pragmas: own,
  },
};

/** @param {unknown[]} row */
function checkLog([mode]) {
  if (mode !== "wal") throw new Error(`no write-ahead log here, but ${String(mode)}`);
}

/**
 * @param {string} vfsName
 * @returns {(place: string, durability: Durability, image: import("./index.js").Image) => Promise<Contender>}
 */
export const openWaSqlite = (vfsName) => async (place, durability, image) => {
  const setup = /** @type {Setup} */ (SETUPS[vfsName]);
  if (setup.strictByForce && durability === "strict") makeStrict(place);
  const module = await (await BUILDS[setup.build()]()).default();
  const sqlite3 = SQLite.Factory(module);
  const vfs = await (await setup.load()).create(place, module);
  sqlite3.vfs_register(vfs, true);
  const db = await sqlite3.open_v2(`${place}.db`);
  /** @param {string} sql */
  const prepare = async (sql) => {
    for await (const statement of sqlite3.statements(db, sql, { unscoped: true })) return statement;
    throw new Error("nothing to prepare");
  };
  /** @param {number} statement @param {Values} values */
  const run = async (statement, values) => {
    if (values.length > 0) sqlite3.bind_collection(statement, values);
    await sqlite3.step(statement);
    await sqlite3.reset(statement);
  };
  // As much memory as the database wants: all that is compared keep it there.
  for (const pragma of ["cache_size=-131072", ...setup.pragmas[durability]]) await sqlite3.exec(db, `PRAGMA ${pragma}`);
  if (setup.pragmas === log) await sqlite3.exec(db, "PRAGMA journal_mode", checkLog);
  await fill();
  const statements = await prepareAll(STATEMENTS);

  /** @template {string} K @param {Readonly<Record<K, string>>} texts */
  async function prepareAll(texts) {
    const all = /** @type {Record<K, number>} */ ({});
    for (const name of /** @type {K[]} */ (Object.keys(texts))) all[name] = await prepare(texts[name]);
    return all;
  }

  async function fill() {
    await sqlite3.exec(db, SCHEMA);
    const inserts = await prepareAll(FILL_STATEMENTS);
    for (let first = 0; first < image.rows; first += FILL_ROWS) {
      await sqlite3.exec(db, "BEGIN IMMEDIATE");
      for (let i = first; i < Math.min(first + FILL_ROWS, image.rows); i++) {
        for (const [name, values] of rowsOf(i, image.rows)) await run(inserts[name], values);
      }
      await sqlite3.exec(db, "COMMIT");
    }
    for (const statement of Object.values(inserts)) await sqlite3.finalize(statement);
  }

  return {
    async commit(one) {
      for (const [name, values] of stepsOf(one)) {
        await run(statements[name], values);
        if (name === "update" && sqlite3.changes(db) !== 1) throw new Error(`stale write to ${one.execution.id}`);
      }
    },
    async close() {
      for (const statement of Object.values(statements)) await sqlite3.finalize(statement);
      await sqlite3.close(db);
      await vfs.close();
    },
  };
};
