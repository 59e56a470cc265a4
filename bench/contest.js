// A contest: contenders take turns in blocks, round after round, so that whatever the machine does besides hits all of
// them alike. Medians and ratios are taken within one run; a ratio within one round.
//
// Not mitata, because it measures one function to its end before the next: minutes lie between the things compared, and
// how long a sync takes changes in seconds. It also repeats a call on the same input, where a commit needs a new one.
import { fork } from "node:child_process";
import { contenderNamed } from "./contenders/index.js";
import { syncDatabase } from "./databases.js";
import { concat, median, percentile, sum } from "./stats.js";

/** @typedef {import("./worker.js").Block} Block */

/**
 * @typedef {object} Entrant
 * @property {string} key its name in the results
 * @property {string} name the contender's
 * @property {string} source the database it starts from
 * @property {string} path where its own file goes
 * @property {number} rows Executions in it
 * @property {number} [lanes] commits in flight, when not the contender's own
 */

/**
 * @typedef {object} Pace
 * @property {number} rounds
 * @property {number} blockMs what a block should take
 * @property {number} warmUpMs what the just-in-time compiler gets to see before
 * @property {boolean} [profile]
 */

/**
 * @typedef {object} Result
 * @property {string} label
 * @property {number} samples
 * @property {number} commitsPerSecond median of the rounds
 * @property {number} p50 milliseconds, like p95, p99 and max
 * @property {number} p95
 * @property {number} p99
 * @property {number} max
 * @property {number | null} ratio to the reference: median of the rounds' ratios
 * @property {number} cpuMs for each commit, all threads
 * @property {number | null} cpuP50 median of single commits, where they were measured
 * @property {number} syncs for each commit, as far as they went through node:fs
 * @property {number | null} kibWritten for each commit
 * @property {number[]} rates commits/s of each round
 * @property {import("./profile.js").Hot[]} [hottest]
 */

/** A block that takes so many times its share of a round is run in few rounds only. */
const SLOW = 3;
const SLOW_ROUNDS = 4;
const MAX_BLOCK = 4096;

class Worker {
  /** @type {import("node:child_process").ChildProcess} */
  #process;
  /** @type {{ resolve(value: any): void, reject(error: Error): void } | null} */
  #waiting = null;

  constructor() {
    this.#process = fork(new URL("worker.js", import.meta.url), { serialization: "advanced" });
    this.#process.on("message", (/** @type {{ result?: unknown, error?: string }} */ { result, error }) => {
      if (error === undefined) this.#waiting?.resolve(result);
      else this.#waiting?.reject(new Error(error));
    });
    this.#process.on("exit", (code, signal) => this.#waiting?.reject(new Error(`a contender died: ${signal ?? code}`)));
  }

  /** @template T @param {object} message @returns {Promise<T>} */
  ask(message) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#process.send(message);
    });
  }

  end() {
    this.#waiting = null;
    this.#process.disconnect();
  }
}

/**
 * @param {readonly Entrant[]} entrants
 * @param {Pace} pace
 * @param {(key: string) => string | null} referenceOf whom an entrant is compared with
 * @returns {Promise<Record<string, Result>>}
 */
export async function contest(entrants, pace, referenceOf) {
  /** @type {Map<string, Worker>} */
  const workers = new Map();
  const workerOf = (/** @type {Entrant} */ { name, rows }) =>
    workers.get(`${contenderNamed(name).sharesWith ?? name} ${rows}`);
  try {
    for (const { name, source, path, rows } of entrants) {
      if (contenderNamed(name).sharesWith !== undefined) continue;
      const worker = new Worker();
      workers.set(`${name} ${rows}`, worker);
      await worker.ask({ open: { name, source, path, rows } });
    }
    const runners = [];
    for (const entrant of entrants) {
      const worker = workerOf(entrant);
      if (worker === undefined) throw new Error(`${entrant.name} needs the contender it shares a process with`);
      runners.push(await warmUp(entrant, worker, pace));
    }
    for (let round = 0; round < pace.rounds; round++) {
      // Another one begins each time: nobody always follows the same one.
      for (let i = 0; i < runners.length; i++) {
        const runner = runners[(round + i) % runners.length];
        if (runner !== undefined && (!runner.slow || round < SLOW_ROUNDS)) await runner.turn(round);
      }
    }
    const hottest = new Map();
    for (const [key, worker] of workers) hottest.set(key, await worker.ask({ close: true }));
    /** @type {Record<string, Result>} */
    const results = {};
    for (const { entrant, blocks } of runners) {
      const reference = runners.find((one) => one.entrant.key === referenceOf(entrant.key));
      results[entrant.key] = summarise(entrant, blocks, reference?.blocks ?? null);
      const hot = hottest.get(`${entrant.name} ${entrant.rows}`);
      if (hot) results[entrant.key] = { .../** @type {Result} */ (results[entrant.key]), hottest: hot };
    }
    return results;
  } finally {
    for (const worker of workers.values()) worker.end();
  }
}

/**
 * Finds how many commits fill a block, warming up on the way.
 *
 * @param {Entrant} entrant
 * @param {Worker} worker
 * @param {Pace} pace
 */
async function warmUp(entrant, worker, { blockMs, warmUpMs, profile = false }) {
  const { settles = false, ...contender } = contenderNamed(entrant.name);
  const lanes = entrant.lanes ?? contender.lanes;
  const least = Math.max(1, lanes * 4);
  const cpuEach = entrant.name === "memory" && !profile;
  /** @type {(count: number, profiled?: boolean) => Promise<Block>} */
  const block = (count, profiled = false) => worker.ask({ block: { count, lanes, cpuEach, profiled } });
  let count = least;
  let each = 0;
  for (let spent = 0; spent < warmUpMs;) {
    const { wallMs } = await block(count);
    spent += wallMs;
    each = wallMs / count;
    count = Math.round(Math.min(MAX_BLOCK, Math.max(least, count * 2, 1)));
  }
  count = Math.round(Math.min(MAX_BLOCK, Math.max(least, blockMs / each)));
  /** @type {Map<number, Block>} */
  const blocks = new Map();
  const turn = async (/** @type {number} */ round) => {
    blocks.set(round, await block(count, profile));
    // Bytes this one left to the system would be written out during the next one's sync.
    if (settles) syncDatabase(entrant.path);
  };
  if (settles) syncDatabase(entrant.path);
  return { entrant, blocks, turn, slow: each * count > blockMs * SLOW };
}

/** @param {Block} block */
const rateOf = ({ latencies, wallMs }) => (latencies.length / wallMs) * 1000;

/**
 * @param {Entrant} entrant
 * @param {Map<number, Block>} blocks by round
 * @param {Map<number, Block> | null} reference
 * @returns {Result}
 */
function summarise({ name }, blocks, reference) {
  const all = [...blocks.values()];
  const latencies = concat(all.map((block) => block.latencies));
  const cpus = concat(all.map((block) => block.cpus));
  const ratios = [...blocks].flatMap(([round, block]) => {
    const other = reference?.get(round);
    return other === undefined ? [] : [rateOf(block) / rateOf(other)];
  });
  const bytes = all.map((block) => block.bytesWritten);
  return {
    label: contenderNamed(name).label,
    samples: latencies.length,
    commitsPerSecond: median(all.map(rateOf)),
    p50: median(latencies),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    max: percentile(latencies, 1),
    ratio: ratios.length > 0 ? median(ratios) : null,
    cpuMs: sum(all.map((block) => block.cpuMs)) / latencies.length,
    cpuP50: cpus.length > 0 ? median(cpus) : null,
    syncs: sum(all.map((block) => block.syncs)) / latencies.length,
    kibWritten: bytes.includes(null) ? null : sum(bytes.map(Number)) / 1024 / latencies.length,
    rates: all.map(rateOf),
  };
}
