// How much does a page load before its first commit?
import { table } from "../../report.js";
import { weigh } from "../build.js";

const LOADS = Object.freeze({
  perdure: "perdure on IndexedDB",
  "perdure-opfs": "perdure on OPFS",
  naive: "sql.js and idb-keyval",
  "wa-sqlite-idb": "wa-sqlite, asyncify, IDBBatchAtomicVFS",
  "wa-sqlite-opfs": "wa-sqlite, AccessHandlePoolVFS",
  "sqlite-wasm": "sqlite-wasm",
});

/** @param {import("./index.js").Tools} tools @returns {Promise<Record<string, number>>} KB (1000 bytes) gzipped */
export async function run({ folder, print }) {
  /** @type {Record<string, number>} */
  const kb = {};
  for (const name of Object.keys(LOADS)) kb[name] = (await weigh(`${folder}/load`, name)) / 1000;
  print("\nFirst load, everything, gzipped (KB)");
  print(
    table(
      ["", "KB"],
      Object.entries(LOADS).map(([name, label]) => [label, kb[name]]),
    ),
  );
  return kb;
}
