// A database written by the Python original and left with its log not folded in: the main file alone is empty, all of it
// is in the -wal. Opened as a copy, since opening adds indexes.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SqliteStore } from "perdure";

const GOLDEN = fileURLToPath(new URL("../src/contract/golden/uncheckpointed.db", import.meta.url));

/** All its Executions. @param {string} folder where the copy goes @returns {Promise<import("perdure").ExecutionSummary[]>} */
export async function listGolden(folder) {
  const copy = join(folder, "golden.db");
  await copyFile(GOLDEN, copy);
  await copyFile(`${GOLDEN}-wal`, `${copy}-wal`);
  const store = await SqliteStore.create(copy, { mustExist: true });
  const all = [];
  for (let cursor = null; ;) {
    const { items, nextCursor } = store.listExecutions({ limit: 10, cursor });
    all.push(...items);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  store.close();
  return all;
}
