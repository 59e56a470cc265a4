// Runs contenders in the context that loads it, a window or a worker, as the run outside asks. Only the commits are
// timed; they are made before.
import { makeCommits, makeRandom } from "../../workload.js";
import { openerOf } from "./contenders/open.js";

/** @typedef {import("./contenders/index.js").Contender} Contender */

/**
 * @typedef {object} Block
 * @property {number[]} latencies milliseconds, one a commit
 * @property {number} wallMs
 */

/**
 * @typedef {{ do: "open", key: string, name: string, place: string, durability: import("./contenders/index.js").Durability, image: import("./contenders/index.js").Image, seed: number }
 *   | { do: "block", key: string, count: number, lanes: number }
 *   | { do: "close", key: string }
 *   | { do: "lay", key: string, way: string, place: string, image: import("./contenders/index.js").Image }
 *   | { do: "time", key: string, way: string, place: string }} Task
 * @typedef {Task & { where?: "window" | "worker" }} Message
 */

/** @type {Map<string, { contender: Contender, versions: Uint32Array, random: () => number }>} */
const running = new Map();

/** @param {Message} message @returns {Promise<Block | number | null>} */
export async function handle(message) {
  const { key } = message;
  if (message.do === "lay" || message.do === "time") {
    const way = /** @type {import("./opening.js").Way} */ ((await import("./opening.js")).WAYS[message.way]);
    if (message.do === "lay") {
      await way.lay?.(message.place, message.image);
      return null;
    }
    const start = performance.now();
    const found = await way.open(message.place);
    const took = performance.now() - start;
    if (!(found > 0)) throw new Error(`${message.way} found nothing`);
    return took;
  }
  if (message.do === "open") {
    const open = await openerOf(message.name);
    const contender = await open(message.place, message.durability, message.image);
    running.set(key, {
      contender,
      versions: new Uint32Array(message.image.rows).fill(1),
      random: makeRandom(message.seed),
    });
    return null;
  }
  const one = running.get(key);
  if (one === undefined) throw new Error(`${key} is not open`);
  if (message.do === "block") {
    const { count, lanes } = message;
    return commitBlock(one.contender, makeCommits(count, lanes, one.versions, one.random), lanes);
  }
  running.delete(key);
  await one.contender.close();
  return null;
}

/**
 * @param {Contender} contender
 * @param {import("../../workload.js").Commit[]} commits
 * @param {number} lanes
 * @returns {Promise<Block>}
 */
async function commitBlock(contender, commits, lanes) {
  /** @type {number[]} */
  const latencies = Array.from({ length: commits.length }, () => 0);
  const lane = async (/** @type {number} */ first) => {
    for (let i = first; i < commits.length; i += lanes) {
      const start = performance.now();
      const pending = contender.commit(/** @type {import("../../workload.js").Commit} */ (commits[i]));
      // A call that blocks has nothing to wait for.
      if (pending !== undefined) await pending;
      latencies[i] = performance.now() - start;
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)));
  return { latencies, wallMs: performance.now() - start };
}
