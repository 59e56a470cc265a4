// SQLite's own WebAssembly build on its pool of files (opfs-sahpool): write-ahead log, exclusive, prepared statements.
import sqlite3InitModule from "@sqlite.org/sqlite-wasm";
import { STATEMENTS, stepsOf } from "../steps.js";
import { fetchImage } from "../image.js";

/**
 * @param {string} place
 * @param {import("./index.js").Durability} durability
 * @param {import("./index.js").Image} image
 * @returns {Promise<import("./index.js").Contender>}
 */
export async function openSahPool(place, durability, image) {
  const sqlite3 = await sqlite3InitModule();
  const pool = await sqlite3.installOpfsSAHPoolVfs({ name: place, directory: `/${place}`, clearOnInit: true });
  await pool.importDb("/bench.db", await fetchImage(image.plain));
  const db = new pool.OpfsSAHPoolDb("/bench.db");
  for (const pragma of [
    "cache_size=-131072",
    "locking_mode=EXCLUSIVE",
    "journal_mode=WAL",
    `synchronous=${durability === "strict" ? "FULL" : "NORMAL"}`,
  ]) {
    db.exec(`PRAGMA ${pragma}`);
  }
  if (db.selectValue("PRAGMA journal_mode") !== "wal") throw new Error("opfs-sahpool has no write-ahead log here");
  const statements = Object.fromEntries(Object.entries(STATEMENTS).map(([name, sql]) => [name, db.prepare(sql)]));
  return {
    commit(one) {
      for (const [name, values] of stepsOf(one)) {
        const statement = /** @type {import("@sqlite.org/sqlite-wasm").PreparedStatement} */ (statements[name]);
        if (values.length > 0) statement.bind(values);
        statement.stepReset();
        if (name === "update" && db.changes() !== 1) throw new Error(`stale write to ${one.execution.id}`);
      }
    },
    close() {
      for (const statement of Object.values(statements)) statement.finalize();
      db.close();
    },
  };
}
