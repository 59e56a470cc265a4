// better-sqlite3, as its own documentation says to use it for speed: WAL, prepared statements, one transaction function.
import Database from "better-sqlite3";
import { prepareCommit } from "../peer-sql.js";

/**
 * @param {string} path
 * @param {"FULL" | "NORMAL"} synchronous
 * @returns {import("./index.js").Contender}
 */
export function openNative(path, synchronous) {
  const db = new Database(path, { fileMustExist: true });
  db.pragma("journal_mode = WAL");
  db.pragma(`synchronous = ${synchronous}`);
  const commit = prepareCommit(
    (sql) => db.prepare(sql),
    (statement, values) => statement.run(...values).changes,
  );
  const transaction = db.transaction(commit);
  return { commit: (one) => transaction.immediate(one), close: () => void db.close() };
}
