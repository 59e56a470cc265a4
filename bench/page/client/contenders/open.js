// Opens contenders. Nothing is loaded before it is measured.
import { ENTRIES } from "./index.js";

/** @typedef {import("./index.js").Contender} Contender */
/** @typedef {(place: string, durability: import("./index.js").Durability, image: import("./index.js").Image) => Promise<Contender>} Open */

/** @type {Readonly<Record<string, () => Promise<Open>>>} */
const OPEN = {
  "bare-records": async () => (await import("./bare.js")).openBareRecords,
  "bare-pages": async () => (await import("./bare.js")).openBarePages,
  perdure: async () => (await import("./perdure.js")).openIndexedDb,
  "perdure-64": async () => (await import("./perdure.js")).openIndexedDb,
  naive: async () => (await import("./naive.js")).openNaive,
  "perdure-opfs": async () => (await import("./perdure-opfs.js")).openOpfsStore,
  "opfs-sahpool": async () => (await import("./sqlite-wasm.js")).openSahPool,
};

/** @param {string} name @returns {Promise<Open>} */
export async function openerOf(name) {
  if (ENTRIES[name] === undefined) throw new Error(`no contender is called ${name}`);
  const load = OPEN[name] ?? (async () => (await import("./wa-sqlite.js")).openWaSqlite(name));
  return load();
}
