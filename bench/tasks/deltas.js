// What a commit hands to its adapter, counted at the port: pages, bytes, and how many commits share one append.
import { copyDatabase } from "../databases.js";
import { asyncFileAdapter, AsyncSqliteStore, fileAdapter, SqliteStore } from "../perdure.js";
import { makeCommits, makeRandom } from "../workload.js";

/** @typedef {{ commits: number, appends: number, pages: number, bytes: number }} Count for each commit, but for `commits` */

const LANES = 64;

/** @param {{ source: string, path: string, rows: number, commits: number }} options @returns {Promise<Record<string, Count>>} */
export async function run({ source, path, rows, commits }) {
  const inputs = (/** @type {number} */ lanes) =>
    makeCommits(commits, lanes, new Uint32Array(rows).fill(1), makeRandom(rows + lanes));

  copyDatabase(source, `${path}-1`);
  const single = counter();
  const adapter = fileAdapter(`${path}-1`, {});
  const store = await SqliteStore.create({
    ...adapter,
    append(delta, after) {
      single.add(delta);
      return adapter.append(delta, after);
    },
  });
  for (const { execution, effects } of inputs(1)) store.commit(execution, effects);
  store.close();

  copyDatabase(source, `${path}-${LANES}`);
  const grouped = counter();
  const awaited = asyncFileAdapter(`${path}-${LANES}`, {});
  const asyncStore = await AsyncSqliteStore.create({
    ...awaited,
    append(delta, after) {
      grouped.add(delta);
      return awaited.append(delta, after);
    },
  });
  const queue = inputs(LANES);
  const lane = async (/** @type {number} */ first) => {
    for (let i = first; i < queue.length; i += LANES) {
      const { execution, effects } = /** @type {import("../workload.js").Commit} */ (queue[i]);
      await asyncStore.commit(execution, effects);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)));
  await asyncStore.close();
  return { "1 at a time": single.perCommit(commits), [`${LANES} in flight`]: grouped.perCommit(commits) };
}

function counter() {
  let appends = 0;
  let pages = 0;
  let bytes = 0;
  return {
    /** @param {import("../../src/port.ts").PageDelta} delta */
    add(delta) {
      appends++;
      pages += delta.pages.size;
      bytes += delta.pages.size * delta.pageSize;
    },
    /** @param {number} commits @returns {Count} */
    perCommit: (commits) => ({ commits, appends: appends / commits, pages: pages / commits, bytes: bytes / commits }),
  };
}
