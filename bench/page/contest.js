// A contest in the page: contenders take turns in blocks, round after round, as in bench/contest.js.
import { orderOf } from "../order.js";
import { median, percentile } from "../stats.js";
import { ENTRIES } from "./client/contenders/index.js";

/** @typedef {import("./client/host.js").Block} Block */
/** @typedef {import("./client/contenders/index.js").Durability} Durability */

/**
 * @typedef {object} Entrant
 * @property {string} key its name in the results
 * @property {string} name the contender's
 * @property {import("./client/contenders/index.js").Image} image
 */

/**
 * @typedef {object} Pace
 * @property {number} rounds
 * @property {number} blockMs what a block should take
 * @property {number} warmUpMs what the just-in-time compiler gets to see before
 */

/**
 * @typedef {object} Result
 * @property {string} label
 * @property {number} samples
 * @property {number} perSecond commits: median of the rounds
 * @property {number} p50 milliseconds, like p95 and max
 * @property {number} p95
 * @property {number} max
 * @property {number[]} p50s of each round
 * @property {number[]} rates commits/s of each round
 */

/** Sends a message to the page. @typedef {(message: import("./client/host.js").Message) => Promise<any>} Ask */

const MAX_BLOCK = 2048;

/**
 * @param {Ask} ask
 * @param {readonly Entrant[]} entrants
 * @param {Durability} durability
 * @param {Pace} pace
 * @returns {Promise<Record<string, Result>>}
 */
export async function contest(ask, entrants, durability, pace) {
  const runners = [];
  for (const [at, { key, name, image }] of entrants.entries()) {
    const where = ENTRIES[name]?.where ?? "window";
    await ask({
      do: "open",
      where,
      key,
      name,
      place: `bench-${key}-${durability}-${image.rows}`,
      durability,
      image,
      seed: at + 1,
    });
    runners.push(await warmUp(ask, key, lanesOf(name), pace));
  }
  for (let round = 0; round < pace.rounds; round++) {
    for (const at of orderOf(round, runners.length)) await runners[at]?.turn();
  }
  /** @type {Record<string, Result>} */
  const results = {};
  for (const [at, { key, name }] of entrants.entries()) {
    await ask({ do: "close", key });
    results[key] = summarise(labelOf(name, durability), runners[at]?.blocks ?? []);
  }
  return results;
}

/** @param {string} name */
export const lanesOf = (name) => ENTRIES[name]?.lanes ?? 1;
/** @param {string} name @param {Durability} durability */
const labelOf = (name, durability) => ENTRIES[name]?.label[durability] ?? name;

/**
 * Finds how many commits fill a block, warming up on the way.
 *
 * @param {Ask} ask
 * @param {string} key
 * @param {number} lanes
 * @param {Pace} pace
 */
async function warmUp(ask, key, lanes, { blockMs, warmUpMs }) {
  // In flight, what counts is how fast it goes on, not how it begins and ends.
  const least = lanes > 1 ? lanes * 16 : 1;
  /** @type {(count: number) => Promise<Block>} */
  const block = (count) => ask({ do: "block", key, count, lanes });
  let count = least;
  let each = 0;
  for (let spent = 0; spent < warmUpMs;) {
    const { wallMs } = await block(count);
    spent += wallMs;
    each = wallMs / count;
    count = Math.min(MAX_BLOCK, Math.max(least, Math.round(Math.min(count * 2, blockMs / each))));
  }
  count = Math.min(MAX_BLOCK, Math.max(least, Math.round(blockMs / each)));
  /** @type {Block[]} */
  const blocks = [];
  return { blocks, turn: async () => void blocks.push(await block(count)) };
}

/** @param {string} label @param {readonly Block[]} blocks one a round @returns {Result} */
function summarise(label, blocks) {
  const latencies = blocks.flatMap((block) => block.latencies);
  const rates = blocks.map(({ latencies: { length }, wallMs }) => (length / wallMs) * 1000);
  return {
    label,
    samples: latencies.length,
    perSecond: median(rates),
    p50: median(latencies),
    p95: percentile(latencies, 0.95),
    max: percentile(latencies, 1),
    p50s: blocks.map((block) => median(block.latencies)),
    rates,
  };
}

/**
 * How many times as long `a` takes as `b`: the median of what the rounds say, each in itself.
 *
 * @param {Result | undefined} a
 * @param {Result | undefined} b
 */
export function timesAsLong(a, b) {
  if (a === undefined || b === undefined) return null;
  return median(a.p50s.map((p50, round) => p50 / (b.p50s[round] ?? NaN)));
}
