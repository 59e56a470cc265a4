import sqlite3InitModule from "@sqlite.org/sqlite-wasm";

const sqlite3 = await sqlite3InitModule();
export const pool = await sqlite3.installOpfsSAHPoolVfs({ name: "orders" });
