// Looks at a file after the processes that wrote it are gone: with every stock SQLite there is, and with a store.
import { copyFileSync, existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { SqliteStore } from "perdure";
import { auditBooks, BOOKS_SQL } from "./books.js";
import { auditIntegrity, INTEGRITY_SQL, stockSqlites } from "./stock.js";

/**
 * What is wrong with a file. Looks at copies, so that the file stays as a kill left it.
 * @param {string} file
 * @param {string} copy  a name to copy it to
 * @param {Map<string, number>} acknowledged  updated with what was found
 * @param {number} mayBeMore  commits that may be there though nobody was told
 * @param {import("./stock.js").StockSqlite[]} [stocks]  which to ask besides the store
 * @returns {Promise<string[]>}
 */
export async function auditFile(file, copy, acknowledged, mayBeMore, stocks = stockSqlites) {
  if (!existsSync(file)) return acknowledged.size === 0 ? [] : ["the file is gone"];
  const problems = [];
  const readers = stocks.map((stock) => () => auditWithStock(stock, copy, acknowledged, mayBeMore));
  for (const read of [...readers, () => auditWithStore(copy, acknowledged)]) {
    for (const part of ["", "-wal"]) {
      await rm(copy + part, { force: true });
      if (existsSync(file + part)) copyFileSync(file + part, copy + part);
    }
    await rm(`${copy}-shm`, { force: true });
    problems.push(...(await read()));
  }
  return problems;
}

/** @param {import("./stock.js").StockSqlite} stock @param {string} copy @param {Map<string, number>} acknowledged @param {number} mayBeMore */
function auditWithStock(stock, copy, acknowledged, mayBeMore) {
  const hasBooks = acknowledged.size > 0 || hasTables(stock, copy);
  const [integrity, rows] = stock.queryAll(copy, hasBooks ? [INTEGRITY_SQL, BOOKS_SQL] : [INTEGRITY_SQL]);
  const books = rows === undefined ? [] : auditBooks(rows, acknowledged, mayBeMore);
  return [...auditIntegrity(stock, integrity), ...books.map((problem) => `${stock.name}: ${problem}`)];
}

/** @param {import("./stock.js").StockSqlite} stock @param {string} file */
function hasTables(stock, file) {
  const sql = "SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table' AND name = 'executions'";
  return stock.query(file, sql)[0]?.["n"] !== 0;
}

/** What was seen once may not be lost later either, so all that is found counts as acknowledged from now on. */
/** @param {string} copy @param {Map<string, number>} acknowledged */
async function auditWithStore(copy, acknowledged) {
  const store = await SqliteStore.create(copy, { mustExist: true, traceMax: null });
  const found = new Map(store.listExecutions().items.map(({ id, version }) => [id, version]));
  const problems = [];
  for (const [id, version] of acknowledged) {
    if ((found.get(id) ?? 0) < version)
      problems.push(`perdure: ${id} has version ${found.get(id) ?? 0}, not ${version}`);
  }
  for (const [id, version] of found) {
    const { length } = store.readTrace(id);
    if (length !== version) problems.push(`perdure: ${id} has ${length} steps at version ${version}`);
    if (!store.isProcessed(id, `event ${version}`)) problems.push(`perdure: ${id} forgot event ${version}`);
    acknowledged.set(id, version);
  }
  store.close();
  return problems;
}
