// The same commit on everybody, at three sizes.
import { contest } from "../contest.js";
import { CONTENDERS } from "../contenders/index.js";
import { table } from "../report.js";

/** @typedef {Record<string, Record<string, import("../contest.js").Result>>} Commits rows → contender → result */

const REFERENCE = "native-full";
const NAIVE = "naive";
const SIZES = [1_000, 10_000, 100_000];

/** @param {import("./index.js").Context} context @returns {Promise<Commits>} */
export async function run({ databases, folder, quick, print }) {
  /** @type {Commits} */
  const results = {};
  for (const rows of SIZES) {
    const { plain, indexed } = await databases(rows);
    const entrants = Object.entries(CONTENDERS).map(([name, { source }]) => ({
      key: name,
      name,
      source: source === "plain" ? plain : indexed,
      path: `${folder}/commits-${name}-${rows}.db`,
      rows,
    }));
    const pace = quick ? { rounds: 5, blockMs: 40, warmUpMs: 150 } : { rounds: 21, blockMs: 80, warmUpMs: 1200 };
    const found = await contest(
      entrants.filter(({ name }) => name !== NAIVE),
      pace,
      () => REFERENCE,
    );
    // Apart, with the reference alone: the large files it throws away keep the file system busy for a while, and every
    // sync of the others would wait for that.
    const apart = await contest(
      entrants
        .filter(({ name }) => name === NAIVE || name === REFERENCE)
        .map((entrant) => ({ ...entrant, path: `${entrant.path}-apart` })),
      { ...pace, rounds: quick ? 2 : 5, warmUpMs: pace.warmUpMs / 4 },
      () => REFERENCE,
    );
    results[rows] = { ...found, [NAIVE]: /** @type {import("../contest.js").Result} */ (apart[NAIVE]) };
    print(`\nCommits at ${rows.toLocaleString("en")} executions (ms; ratio: commits/s to better-sqlite3 FULL)`);
    print(commitTable(results[rows]));
  }
  return results;
}

/** @param {Record<string, import("../contest.js").Result>} results */
export function commitTable(results) {
  return table(
    ["", "commits/s", "ratio", "p50", "p95", "p99", "max", "CPU/commit", "syncs", "KiB written"],
    Object.values(results).map((one) => [
      one.label,
      one.commitsPerSecond,
      one.ratio,
      one.p50,
      one.p95,
      one.p99,
      one.max,
      one.cpuP50 ?? one.cpuMs,
      // A peer that is not JavaScript does not go through node:fs.
      one.label.startsWith("better-sqlite3") ? null : one.syncs,
      one.kibWritten,
    ]),
  );
}
