// What a crash may take and what not, told from the file itself: it is read by stock sql.js, after the store that recovered
// it was closed. Every commit leaves one row in each table (see ../books.js), so what is half, doubled or missing shows.
import { createRequire } from "node:module";
import { auditBooks, BOOKS_SQL, nextCommit } from "../books.js";

/**
 * What a scenario says of a commit: before it, when it returned, when it was refused.
 * @typedef {{ type: "begun" | "kept" | "refused", id: string, version: number }} Fact
 */

/**
 * sql.js brings no types.
 * @typedef {{ [column: string]: unknown }} Row
 * @typedef {{ step(): boolean, getAsObject(): Row, free(): void }} Statement
 * @typedef {{ prepare(sql: string): Statement, close(): void }} Stock
 * @type {{ Database: new (bytes: Uint8Array) => Stock }}
 */
const SQL = await createRequire(import.meta.url)("sql.js")();

/**
 * Commits once, and says so.
 * @param {import("perdure").SqliteStore | import("perdure").AsyncSqliteStore} store
 * @param {import("perdure").Execution} exe
 * @param {number} bytes
 * @param {(fact: Fact) => void} say
 */
export async function commitOnce(store, exe, bytes, say) {
  const fact = { id: exe.id, version: exe.version + 1 };
  say({ type: "begun", ...fact });
  try {
    await store.commit(exe, nextCommit(exe, bytes));
    say({ type: "kept", ...fact });
  } catch (error) {
    say({ type: "refused", ...fact });
    throw error;
  }
}

/**
 * What is wrong with a database file.
 * @param {Uint8Array} bytes  changed: in memory there is no log to look for
 * @param {readonly Fact[]} facts
 * @param {{ mayLose: boolean }} options  mayLose: what was acknowledged may be gone, but whole
 * @returns {string[]}
 */
export function auditBytes(bytes, facts, { mayLose }) {
  const database = new SQL.Database(bytes.fill(1, 18, 20));
  try {
    const check = read(database, "PRAGMA integrity_check").map((row) => row["integrity_check"]);
    const rows = read(database, BOOKS_SQL);
    const { kept, open } = settle(facts);
    if (mayLose) {
      const found = new Map(rows.map((row) => [row["id"], Number(row["version"])]));
      for (const [id, version] of kept) kept.set(id, Math.min(version, found.get(id) ?? 0));
    }
    return [...(check[0] === "ok" ? [] : [`integrity_check: ${check.join()}`]), ...auditBooks(rows, kept, open)];
  } finally {
    database.close();
  }
}

/** The last version of each that was acknowledged, and how many commits nobody told the end of. @param {readonly Fact[]} facts */
export function settle(facts) {
  /** @type {Map<string, number>} */
  const kept = new Map();
  const open = new Set();
  for (const { type, id, version } of facts) {
    if (type === "begun") open.add(`${id} ${version}`);
    else open.delete(`${id} ${version}`);
    if (type === "kept") kept.set(id, version);
  }
  return { kept, open: open.size };
}

/** @param {Stock} database @param {string} sql @returns {Row[]} */
function read(database, sql) {
  const statement = database.prepare(sql);
  try {
    /** @type {Row[]} */
    const rows = [];
    while (statement.step()) rows.push(statement.getAsObject());
    return rows;
  } finally {
    statement.free();
  }
}
