// The library under test, opened the way its README says: by path.
import { readImage } from "../databases.js";
import { AsyncSqliteStore, memoryAdapter, SqliteStore } from "../perdure.js";

/**
 * @param {string} path
 * @param {"strict" | "relaxed"} durability
 * @returns {Promise<import("./index.js").Contender>}
 */
export async function openFileStore(path, durability) {
  const store = await SqliteStore.create(path, { durability, mustExist: true });
  return { commit: ({ execution, effects }) => store.commit(execution, effects), close: () => store.close() };
}

/** @param {string} path @returns {Promise<import("./index.js").Contender>} */
export async function openAsyncFileStore(path) {
  const store = await AsyncSqliteStore.create(path, { mustExist: true });
  return { commit: ({ execution, effects }) => store.commit(execution, effects), close: () => store.close() };
}

/**
 * A store in memory that starts with what is in a file.
 *
 * @param {string} source
 * @returns {Promise<import("./index.js").Contender>}
 */
export async function openMemoryStore(source) {
  const adapter = memoryAdapter();
  const image = readImage(source);
  const store = await SqliteStore.create({ ...adapter, load: () => ({ ...adapter.load(), ...image }) });
  return { commit: ({ execution, effects }) => store.commit(execution, effects), close: () => store.close() };
}
