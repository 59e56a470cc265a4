// Stock SQLite, to see what other programs see: the sqlite3 command, or Python's module. Where neither is installed the
// tests that need one say so and are skipped.
import { execFileSync } from "node:child_process";

/** @typedef {{ [column: string]: unknown }} Row */
/** @typedef {{ name: string, query(file: string, sql: string, options?: { readonly?: boolean }): Row[] }} StockSqlite */

const PYTHON = `
import json, sqlite3, sys
uri = "file:" + sys.argv[1].replace("?", "%3f") + ("?mode=ro" if sys.argv[3] == "readonly" else "")
db = sqlite3.connect(uri, uri=True)
db.row_factory = sqlite3.Row
print(json.dumps([dict(row) for row in db.execute(sys.argv[2])]))
db.close()
`;

/** @type {StockSqlite} */
const command = {
  name: "sqlite3",
  query(file, sql, { readonly = false } = {}) {
    const out = run("sqlite3", ["-batch", "-bail", "-json", ...(readonly ? ["-readonly"] : []), file, sql]);
    return out.trim() === "" ? [] : JSON.parse(out);
  },
};

/** @type {StockSqlite} */
const python = {
  name: "python3",
  query: (file, sql, { readonly = false } = {}) =>
    JSON.parse(run("python3", ["-c", PYTHON, file, sql, readonly ? "readonly" : "readwrite"])),
};

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
export const STOCK = [command, python].map((stock) => ({
  stock,
  name: stock.name,
  isInstalled: works(() => stock.query(":memory:", "SELECT json('{}') AS one")),
}));
/** Those that are. @type {StockSqlite[]} */
export const stockSqlites = STOCK.filter((one) => one.isInstalled).map(({ stock }) => stock);

/** Whether a program can be started. @param {string} program @param {string[]} args */
export const isInstalled = (program, args) => works(() => run(program, args));

/** Problems that SQLite finds in a file. @param {StockSqlite} stock @param {string} file */
export function checkIntegrity(stock, file) {
  const [row] = stock.query(file, "PRAGMA integrity_check");
  const found = row?.["integrity_check"];
  return found === "ok" ? [] : [`${stock.name}: integrity_check says ${String(found)}`];
}
