// What the library promises itself in a page, and what this run reached. A section that did not run leaves its targets
// out.
import { ENTRIES } from "./client/contenders/index.js";
import { timesAsLong } from "./contest.js";
import { median } from "../stats.js";

/** @typedef {{ target: string, asked: string, reached: number | null, ok: boolean }} Target */

const OURS = Object.freeze({ indexeddb: "perdure", opfs: "perdure-opfs" });

/** @param {import("./sections/index.js").Results} results @returns {Target[]} */
export function judge({ weight, commits = [], growth, opening }) {
  /** @type {Target[]} */
  const targets = [];
  const atLeast = (/** @type {string} */ target, /** @type {number} */ asked, /** @type {number | null} */ reached) =>
    targets.push({ target, asked: `>= ${asked} x`, reached, ok: (reached ?? -Infinity) >= asked });
  const atMost = (
    /** @type {string} */ target,
    /** @type {number} */ asked,
    /** @type {number | null | undefined} */ reached,
    unit = "x",
  ) =>
    targets.push({
      target,
      asked: `<= ${asked} ${unit}`,
      reached: reached ?? null,
      ok: (reached ?? Infinity) <= asked,
    });

  for (const { megabytes, durability, bare, inFlight, results, apart } of commits) {
    const at = `${durability}, at ${megabytes} MB`;
    if (durability === "strict") {
      atMost(`commit p50 to a bare put of the same records, ${at}`, 1.5, bare["perdure"]?.ratio);
      atLeast(
        `64 in flight to one at a time, commits/s, ${at}`,
        10,
        faster(inFlight["perdure-64"], inFlight["perdure"]),
      );
    }
    if (megabytes === 10) {
      atLeast(`naive commit to ours, p50, ${at}`, 20, timesAsLong(apart["naive"], apart["perdure"]));
    }
    for (const [name, one] of Object.entries(results)) {
      const { kind, storage = "indexeddb", weaker = [] } = ENTRIES[name] ?? {};
      if (kind !== "peer" || weaker.includes(durability)) continue;
      atLeast(`${one.label} to ${OURS[storage]}, p50, at ${megabytes} MB`, 1, timesAsLong(one, results[OURS[storage]]));
    }
  }
  for (const [name, ratio] of Object.entries(growth ?? {})) {
    atMost(`${name}: commit p50 at 50 MB to that at 1 MB`, 1.2, ratio);
  }
  if (opening) {
    const size = `${Math.round(opening.bytes / 1e6)} MB`;
    atMost(`opening ${size} from IndexedDB to reading its records`, 2, opening.ratios.indexeddb);
    atMost(`opening ${size} after 20,000 commits in a row to reading its records`, 2, opening.ratios.longest);
    atMost(`opening ${size} from OPFS to reading its files`, 2, opening.ratios.opfs);
  }
  if (weight) atMost("first load, gzipped", 400, weight["perdure"], "KB");
  return targets;
}

/** @param {import("./contest.js").Result | undefined} a @param {import("./contest.js").Result | undefined} b */
function faster(a, b) {
  if (a === undefined || b === undefined) return null;
  return median(a.rates.map((rate, round) => rate / (b.rates[round] ?? NaN)));
}
