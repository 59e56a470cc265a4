// Loads, listings and timers at 50k rows. better-sqlite3 without the library's indexes is there for comparison.
import { table } from "../report.js";
import { runTask } from "../task.js";

/** @typedef {Record<string, Record<string, import("../tasks/reads.js").Timing>>} Reads operation → contender → timing */

const ROWS = 50_000;
const LABELS = /** @type {const} */ ([
  ["file", "SqliteStore, file"],
  ["memory", "SqliteStore, memory"],
  ["native", "better-sqlite3"],
]);

/** @param {import("./index.js").Context} context @returns {Promise<Reads>} */
export async function run({ databases, folder, quick, print }) {
  const { plain, indexed } = await databases(ROWS);
  const pace = quick ? { stretches: 3, stretchMs: 50 } : { stretches: 7, stretchMs: 150 };
  /** @type {Reads} */
  const reads = await runTask("reads", { plain, indexed, path: `${folder}/reads.db`, rows: ROWS, ...pace });
  print(`\nReads at ${ROWS.toLocaleString("en")} executions and timers (ms)`);
  const rows = Object.entries(reads).flatMap(([operation, timings]) =>
    LABELS.map(([name, label]) => [
      `${operation}: ${label}`,
      timings[name]?.p50,
      timings[name]?.p99,
      timings[name]?.perSecond,
    ]),
  );
  print(table(["", "p50", "p99", "per second"], rows));
  return reads;
}
