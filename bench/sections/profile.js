// Where the time of a commit goes, by function: for those who want to make it faster. Runs only when asked for, since
// watching costs time itself.
import { contest } from "../contest.js";
import { contenderNamed } from "../contenders/index.js";
import { number, table } from "../report.js";

const ROWS = 10_000;

/** @param {import("./index.js").Context} context @returns {Promise<Record<string, import("../profile.js").Hot[]>>} */
export async function run({ databases, folder, print }) {
  const { indexed } = await databases(ROWS);
  /** @type {Record<string, import("../profile.js").Hot[]>} */
  const profiles = {};
  for (const [name, lanes] of /** @type {const} */ ([
    ["memory", 0],
    ["strict", 0],
    ["async-1", 64],
  ])) {
    const entrant = { key: name, name, source: indexed, path: `${folder}/profile-${name}.db`, rows: ROWS, lanes };
    const { [name]: result } = await contest(
      [entrant],
      { rounds: 10, blockMs: 300, warmUpMs: 1000, profile: true },
      () => null,
    );
    const label = lanes > 0 ? contenderNamed(`async-${lanes}`).label : (result?.label ?? name);
    profiles[label] = result?.hottest ?? [];
    print(
      `\n${label}: ${number(result?.p50)} ms p50, ${number(result?.cpuMs)} ms CPU a commit; time of functions' own`,
    );
    const rows = profiles[label].map(({ where, microseconds, share }) => [where, microseconds, share * 100]);
    print(table(["", "us a commit", "%"], rows));
  }
  return profiles;
}
