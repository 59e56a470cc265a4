// The library under test on IndexedDB, opened the way its README says.
import { AsyncSqliteStore } from "perdure";
import { importDatabase, indexedDbAdapter } from "perdure/indexeddb";
import { fetchImage } from "../image.js";

/**
 * Lays the database to start from.
 *
 * @param {string} place
 * @param {import("./index.js").Image} image
 */
export async function layIndexedDb(place, image) {
  await importDatabase(place, { database: await fetchImage(image.indexed), wal: null });
}

/**
 * @param {string} place
 * @param {import("./index.js").Durability} durability
 * @param {import("./index.js").Image} image
 * @returns {Promise<import("./index.js").Contender>}
 */
export async function openIndexedDb(place, durability, image) {
  await layIndexedDb(place, image);
  const store = await AsyncSqliteStore.create(indexedDbAdapter(place, { durability, mustExist: true }));
  return { commit: ({ execution, effects }) => store.commit(execution, effects), close: () => store.close() };
}
