import { get, set } from "idb-keyval";
import initSqlJs from "sql.js";
import wasm from "sql.js/dist/sql-wasm-browser.wasm?url";

const { Database } = await initSqlJs({ locateFile: () => wasm });
export const db = new Database(await get("orders"));
await set("orders", db.export());
