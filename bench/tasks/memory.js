// Resident memory of a process that has a large database open, before and after commits.
import { copyDatabase, databaseBytes } from "../databases.js";
import { collectGarbage } from "../task.js";
import { makeCommits, makeRandom } from "../workload.js";

/** @typedef {{ imageMib: number, openedMib: number, committedMib: number, besidesImageMib: number }} Result */

const MIB = 2 ** 20;

/** @param {{ source: string, path: string, rows: number, commits: number }} options @returns {Promise<Result>} */
export async function run({ source, path, rows, commits }) {
  copyDatabase(source, path);
  const versions = new Uint32Array(rows).fill(1);
  const random = makeRandom(rows);
  // What the bench itself needs, inputs included, before anything of the package is loaded.
  makeCommits(commits, 1, new Uint32Array(rows), random);
  const before = resident();
  const { SqliteStore } = await import("../perdure.js");
  const store = await SqliteStore.create(path);
  const opened = resident() - before;
  for (let done = 0; done < commits; done += 100) {
    for (const { execution, effects } of makeCommits(100, 1, versions, random)) store.commit(execution, effects);
  }
  const committed = resident() - before;
  store.close();
  const image = databaseBytes(path);
  return {
    imageMib: image / MIB,
    openedMib: opened / MIB,
    committedMib: committed / MIB,
    besidesImageMib: (Math.max(opened, committed) - image) / MIB,
  };
}

function resident() {
  collectGarbage();
  return process.memoryUsage.rss();
}
