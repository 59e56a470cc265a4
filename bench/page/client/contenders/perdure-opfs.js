// The library under test on a file of the Origin Private File System, in a worker. Calls block.
import { SqliteStore } from "perdure";
import { importOpfs, openOpfs } from "perdure/opfs";
import { fetchImage } from "../image.js";

/**
 * Lays the database to start from.
 *
 * @param {string} place
 * @param {import("./index.js").Image} image
 */
export async function layOpfs(place, image) {
  await importOpfs(place, { database: await fetchImage(image.indexed), wal: null });
}

/**
 * @param {string} place
 * @param {import("./index.js").Durability} durability
 * @param {import("./index.js").Image} image
 * @returns {Promise<import("./index.js").Contender>}
 */
export async function openOpfsStore(place, durability, image) {
  await layOpfs(place, image);
  const adapter = await openOpfs(place, { durability, mustExist: true });
  const store = await SqliteStore.create(adapter);
  return {
    commit: ({ execution, effects }) => store.commit(execution, effects),
    async close() {
      store.close();
      await adapter.closed;
    },
  };
}
