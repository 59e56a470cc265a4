// The same commit on everybody, at three sizes, strict and relaxed. Strict and relaxed are contests apart: what a relaxed
// one leaves to the system a strict one would pay for.
import { table } from "../../report.js";
import { ENTRIES } from "../client/contenders/index.js";
import { contest, lanesOf, timesAsLong } from "../contest.js";
import { withSession } from "../session.js";

/** @typedef {import("../client/contenders/index.js").Durability} Durability */
/** @typedef {Record<string, import("../contest.js").Result & { ratio: number | null }>} Results by contender; ratio: as long as the bare put */
/** @typedef {Awaited<ReturnType<import("../session.js").Observe>>} Observed */
/**
 * @typedef {object} Commits
 * @property {number} megabytes
 * @property {Durability} durability
 * @property {Observed} observed
 * @property {Results} bare the library and a bare put, with nobody else in the page
 * @property {Results} inFlight the library one at a time and in flight
 * @property {Results} apart the library and naive
 * @property {Results} results everybody beside each other, and naive
 */

const REFERENCE = "bare-records";
const NAIVE = "naive";
const IN_FLIGHT = "perdure-64";
const OBSERVED_COMMITS = 60;

/** @param {import("./index.js").Tools} tools @returns {Promise<Commits[]>} */
export async function run(tools) {
  const { quick, print } = tools;
  /** @type {import("../images.js").Megabytes[]} */
  const sizes = quick ? [1, 10] : [1, 10, 50];
  const pace = quick ? { rounds: 3, blockMs: 60, warmUpMs: 150 } : { rounds: 15, blockMs: 120, warmUpMs: 800 };
  // A page that is in use was loaded a while ago: for seconds its code gets faster, and the browser has other things to do.
  const steady = quick ? pace : { ...pace, rounds: 30, warmUpMs: 3000 };
  const names = namesFor(tools.browser);
  /** @type {Commits[]} */
  const all = [];
  for (const durability of /** @type {const} */ (["strict", "relaxed"])) {
    for (const megabytes of sizes) {
      const image = await tools.images(megabytes);
      // Who writes much leaves the browser to tidy up for seconds; two that are held against each other take turns alone.
      const among = (/** @type {readonly string[]} */ some, its = pace) =>
        withSession(tools, async ({ ask, observe }) => {
          const observed = await observe(`observed-${durability}`, durability, image, OBSERVED_COMMITS);
          const entrants = some.map((name) => ({ key: name, name, image }));
          const found = await contest(ask, entrants, durability, its);
          return { observed, found, results: compare(found, found) };
        });
      const { observed, results: bare } = await among([REFERENCE, "perdure"], steady);
      const { results: inFlight } = await among(["perdure", IN_FLIGHT]);
      const { found, results: others } = await among(names.filter((name) => name !== NAIVE && name !== IN_FLIGHT));
      const { found: naive, results: apart } = await among([NAIVE, "perdure"], { ...pace, rounds: quick ? 2 : 5 });
      const results = { ...others, ...compare({ [NAIVE]: resultOf(naive, NAIVE) }, found) };
      all.push({ megabytes, durability, observed, bare, inFlight, apart, results });
      print(`\nCommits, ${durability}, at ${megabytes} MB (ms; ratio: as long as a bare put of the same records)`);
      print(describe(observed));
      print(commitTable(bare));
      print(`One at a time and in flight\n${commitTable(inFlight)}`);
      print(`Beside each other; naive apart\n${commitTable(results)}`);
    }
  }
  return all;
}

/** What is measured in an engine. @param {import("../browser.js").BrowserName} browser */
export function namesFor(browser) {
  // It needs several handles on one file, which only Chromium gives.
  return Object.keys(ENTRIES).filter((name) => browser === "chromium" || name !== "OPFSWriteAheadVFS");
}

/** @param {Record<string, import("../contest.js").Result>} some @param {Record<string, import("../contest.js").Result>} all @returns {Results} */
function compare(some, all) {
  return Object.fromEntries(
    Object.entries(some).map(([name, one]) => [
      name,
      // In flight with others a commit waits for its turn: how long says nothing then.
      { ...one, ratio: all[name] === undefined || lanesOf(name) > 1 ? null : timesAsLong(one, all[REFERENCE]) },
    ]),
  );
}

/** @param {Record<string, import("../contest.js").Result>} results @param {string} name */
function resultOf(results, name) {
  const found = results[name];
  if (found === undefined) throw new Error(`${name} did not take part`);
  return found;
}

/** @param {Observed} observed */
function describe({ records, recordBytes, pages, calls }) {
  const kib = (recordBytes / 1024).toFixed(1);
  const seen = Object.entries(calls).map(([call, times]) => `${times.toFixed(2)} ${call}`);
  return `perdure/indexeddb stores ${records.toFixed(2)} records of ${kib} KiB for ${pages.toFixed(1)} pages: ${seen.join(", ")}`;
}

/** @param {Results} results */
function commitTable(results) {
  return table(
    ["", "p50", "p95", "max", "commits/s", "ratio"],
    Object.values(results).map((one) => [one.label, one.p50, one.p95, one.max, one.perSecond, one.ratio]),
  );
}
