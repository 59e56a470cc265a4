// What people write who have sql.js and a file system: change the database in memory, export all of it, write a new
// file, sync, rename.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import initSqlJs from "sql.js";
import { prepareCommit } from "../peer-sql.js";
import { markAsRollback } from "../databases.js";

/**
 * @param {string} source the database to start from
 * @param {string} path the file to write
 * @returns {Promise<import("./index.js").Contender>}
 */
export async function openNaive(source, path) {
  const { Database } = await initSqlJs();
  const db = new Database(markAsRollback(readFileSync(source)));
  const commit = prepareCommit(
    (sql) => db.prepare(sql),
    (statement, values) => {
      statement.run(values);
      return db.getRowsModified();
    },
  );
  return {
    commit(one) {
      db.run("BEGIN IMMEDIATE");
      commit(one);
      db.run("COMMIT");
      replaceFile(path, db.export());
    },
    close: () => db.close(),
  };
}

/** @param {string} path @param {Uint8Array} bytes */
function replaceFile(path, bytes) {
  const temporary = `${path}.tmp`;
  const fd = openSync(temporary, "w");
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temporary, path);
}
