// What people write who have sql.js and idb-keyval: change the database in memory, export all of it, set it. idb-keyval
// leaves durability to the browser, so there is only one way: in the strict contest it is no stricter.
import { createStore, get, set } from "idb-keyval";
import initSqlJs from "sql.js";
import wasm from "sql.js/dist/sql-wasm-browser.wasm?url";
import { fetchImage } from "../image.js";
import { STATEMENTS, stepsOf } from "../steps.js";

const KEY = "database";

/**
 * @param {string} place
 * @param {import("./index.js").Durability} _durability
 * @param {import("./index.js").Image} image
 * @returns {Promise<import("./index.js").Contender>}
 */
export async function openNaive(place, _durability, image) {
  const { Database } = await initSqlJs({ locateFile: () => wasm });
  const store = createStore(place, "images");
  const bytes = await fetchImage(image.plain);
  await set(KEY, bytes, store);
  const db = new Database(bytes);
  const prepareAll = () => Object.fromEntries(Object.entries(STATEMENTS).map(([name, sql]) => [name, db.prepare(sql)]));
  const statements = prepareAll();
  return {
    async commit(one) {
      for (const [name, values] of stepsOf(one)) {
        /** @type {import("sql.js").Statement} */ (statements[name]).run(values);
        if (name === "update" && db.getRowsModified() !== 1) throw new Error(`stale write to ${one.execution.id}`);
      }
      await set(KEY, db.export(), store);
    },
    close: () => db.close(),
  };
}

/** Opens what was set. @param {string} place */
export async function reopenNaive(place) {
  const { Database } = await initSqlJs({ locateFile: () => wasm });
  const db = new Database(await get(KEY, createStore(place, "images")));
  const [result] = db.exec("SELECT COUNT(*) FROM executions");
  db.close();
  return Number(result?.values[0]?.[0]);
}
