// Whether a commit grows with the database: two sizes in one contest, since a ratio of two runs would be the machine's.
import { contest } from "../contest.js";
import { commitTable } from "./commits.js";

/** @typedef {{ strict: number, native: number, results: Record<string, import("../contest.js").Result> }} Growth */

const SMALL = 1_000;
const LARGE = 100_000;

/** @param {import("./index.js").Context} context @returns {Promise<Growth>} */
export async function run({ databases, folder, quick, print }) {
  const entrants = [];
  for (const rows of [SMALL, LARGE]) {
    const { plain, indexed } = await databases(rows);
    for (const [name, source] of /** @type {const} */ ([
      ["native-full", plain],
      ["strict", indexed],
    ])) {
      entrants.push({ key: `${name} ${rows}`, name, source, path: `${folder}/growth-${name}-${rows}.db`, rows });
    }
  }
  const pace = quick ? { rounds: 8, blockMs: 50, warmUpMs: 200 } : { rounds: 31, blockMs: 100, warmUpMs: 1200 };
  const found = await contest(entrants, pace, (key) => `${key.split(" ")[0]} ${SMALL}`);
  const results = Object.fromEntries(
    Object.entries(found).map(([key, one]) => [
      key,
      { ...one, label: `${one.label}, ${Number(key.split(" ")[1]) / 1000}k` },
    ]),
  );
  const growthOf = (/** @type {string} */ name) =>
    (found[`${name} ${LARGE}`]?.p50 ?? NaN) / (found[`${name} ${SMALL}`]?.p50 ?? NaN);
  const growth = { strict: growthOf("strict"), native: growthOf("native-full"), results };
  print(`\nCommits at two sizes in turn (ratio: to its own at ${SMALL.toLocaleString("en")} executions)`);
  print(commitTable(results));
  return growth;
}
