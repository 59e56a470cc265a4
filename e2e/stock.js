// Stock SQLite, to see what other programs see: the sqlite3 command, or Python's module. Where neither is installed the
// tests that need one say so and are skipped.
import { execFileSync } from "node:child_process";

/** @typedef {{ [column: string]: unknown }} Row */
/** @typedef {{ readonly?: boolean }} How */
/**
 * `queryAll`: several statements in one go, for a program takes longer to start than to answer.
 * @typedef {object} StockSqlite
 * @property {string} name
 * @property {(file: string, sql: string, how?: How) => Row[]} query
 * @property {(file: string, statements: readonly string[], how?: How) => Row[][]} queryAll
 */

const PYTHON = `
import json, sqlite3, sys
uri = "file:" + sys.argv[1].replace("?", "%3f") + ("?mode=ro" if sys.argv[2] == "readonly" else "")
db = sqlite3.connect(uri, uri=True)
db.row_factory = sqlite3.Row
print(json.dumps([[dict(row) for row in db.execute(sql)] for sql in sys.argv[3:]]))
db.close()
`;
/** A line that no answer has: there, line ends are within JSON. */
const NEXT = "and next";

const command = stock("sqlite3", (file, statements, readonly) => {
  const options = ["-batch", "-bail", "-json", ...(readonly ? ["-readonly"] : [])];
  const out = run("sqlite3", [...options, file, ...statements.flatMap((sql) => [sql, `.print '${NEXT}'`])]);
  const answers = out.split(`${NEXT}\n`).slice(0, -1);
  return answers.map((answer) => (answer.trim() === "" ? [] : JSON.parse(answer)));
});

const python = stock("python3", (file, statements, readonly) =>
  JSON.parse(run("python3", ["-I", "-S", "-c", PYTHON, file, readonly ? "readonly" : "readwrite", ...statements])),
);

/** @param {string} name @param {(file: string, statements: readonly string[], readonly: boolean) => Row[][]} ask @returns {StockSqlite} */
function stock(name, ask) {
  /** @type {StockSqlite["queryAll"]} */
  const queryAll = (file, statements, { readonly = false } = {}) => ask(file, statements, readonly);
  return { name, queryAll, query: (file, sql, how) => queryAll(file, [sql], how)[0] ?? [] };
}

/** @param {string} program @param {string[]} args */
const run = (program, args) => execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** @param {() => unknown} attempt */
function works(attempt) {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

/** Each with whether it is installed: a test for every one, skipped for all to see where it is not. */
export const STOCK = [command, python].map((one) => ({
  stock: one,
  name: one.name,
  isInstalled: works(() => one.query(":memory:", "SELECT json('{}') AS one")),
}));
/** Those that are. @type {StockSqlite[]} */
export const stockSqlites = STOCK.filter(({ isInstalled: is }) => is).map((one) => one.stock);

/** Whether a program can be started. @param {string} program @param {string[]} args */
export const isInstalled = (program, args) => works(() => run(program, args));

export const INTEGRITY_SQL = "PRAGMA integrity_check";

/** Problems that SQLite finds in a file. @param {StockSqlite} one @param {string} file */
export const checkIntegrity = (one, file) => auditIntegrity(one, one.query(file, INTEGRITY_SQL));

/** What is wrong by the rows of `INTEGRITY_SQL`. @param {StockSqlite} one @param {readonly Row[] | undefined} rows */
export function auditIntegrity(one, rows) {
  const found = rows?.[0]?.["integrity_check"];
  return found === "ok" ? [] : [`${one.name}: integrity_check says ${String(found)}`];
}
