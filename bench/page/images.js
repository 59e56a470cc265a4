// The databases to start from, made once a run.
import { existsSync } from "node:fs";
import { buildIndexed, buildPlain, databaseBytes } from "../databases.js";

/** Executions in a database of so many megabytes. */
export const ROWS = Object.freeze({ 1: 520, 10: 5200, 50: 26_000 });
/** @typedef {1 | 10 | 50} Megabytes */

/**
 * @param {string} folder which is served as /images/
 * @returns {(size: Megabytes) => Promise<import("./client/contenders/index.js").Image & { bytes: number }>}
 */
export function imageBuilder(folder) {
  return async (size) => {
    const rows = ROWS[size];
    const [plain, indexed] = [`plain-${rows}.db`, `indexed-${rows}.db`];
    if (!existsSync(`${folder}/${indexed}`)) {
      await buildPlain(`${folder}/${plain}`, rows);
      await buildIndexed(`${folder}/${plain}`, `${folder}/${indexed}`);
    }
    const bytes = databaseBytes(`${folder}/${indexed}`);
    return { rows, plain: `/images/${plain}`, indexed: `/images/${indexed}`, bytes };
  };
}
