// Where the time of a commit goes, by function: for those who want to make it faster. Runs only when asked for, since
// watching costs time itself.
import { contest } from "../contest.js";
import { number, table } from "../report.js";

const ROWS = 10_000;

/** @param {import("./index.js").Context} context @returns {Promise<Record<string, import("../profile.js").Hot[]>>} */
export async function run({ databases, folder, print }) {
  const { indexed } = await databases(ROWS);
  /** @type {Record<string, import("../profile.js").Hot[]>} */
  const profiles = {};
  for (const name of ["memory", "strict", "async-64"]) {
    const entrant = { key: name, name, source: indexed, path: `${folder}/profile-${name}.db`, rows: ROWS };
    const pace = { rounds: 10, blockMs: 300, warmUpMs: 1500, profile: true };
    const { [name]: result } = await contest([entrant], pace, () => null);
    const hottest = result?.hottest ?? [];
    profiles[name] = hottest;
    print(`\n${result?.label}: ${number(result?.p50)} ms p50, ${number(result?.cpuMs)} ms CPU a commit; by self time`);
    const rows = hottest.map(({ where, microseconds, share }) => [where, microseconds, share * 100]);
    print(table(["", "us a commit", "%"], rows));
  }
  return profiles;
}
