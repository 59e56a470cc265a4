// A contest: contenders take turns in blocks, round after round, so that whatever the machine does besides hits all of
// them alike. Medians and ratios are taken within one run; a ratio within one round.
//
// Not mitata, because it measures one function to its end before the next: minutes lie between the things compared, and
// how long a sync takes changes in seconds. It also repeats a call on the same input, where a commit needs a new one.
import { fork } from "node:child_process";
import { contenderNamed } from "./contenders/index.js";
import { syncDatabase } from "./databases.js";
import { orderOf } from "./order.js";
import { concat, median, percentile, sum } from "./stats.js";

/** @typedef {import("./worker.js").Block} Block */

/**
 * @typedef {object} Entrant
 * @property {string} key its name in the results
 * @property {string} name the contender's
 * @property {string} source the database it starts from
 * @property {string} path where its own file goes
 * @property {number} rows Executions in it
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
 * @property {import("./profile.js").Hot[] | null} [hottest] when it was profiled
 */

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
  /** @type {Worker[]} */
  const workers = [];
  try {
    const runners = [];
    for (const entrant of entrants) {
      const { name, source, path, rows } = entrant;
      const worker = new Worker();
      workers.push(worker);
      await worker.ask({ open: { name, source, path, rows } });
      runners.push(await warmUp(entrant, worker, pace));
    }
    for (let round = 0; round < pace.rounds; round++) {
      for (const at of orderOf(round, runners.length)) await runners[at]?.turn();
    }
    /** @type {Record<string, Result>} */
    const results = {};
    for (const { entrant, worker, blocks } of runners) {
      const reference = runners.find((one) => one.entrant.key === referenceOf(entrant.key));
      const hottest = await worker.ask({ close: true });
      results[entrant.key] = { ...summarise(entrant, blocks, reference?.blocks ?? null), hottest };
    }
    return results;
  } finally {
    for (const worker of workers) worker.end();
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
  const { settles = false, lanes } = contenderNamed(entrant.name);
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
  /** @type {Block[]} */
  const blocks = [];
  const turn = async () => {
    blocks.push(await block(count, profile));
    // Bytes this one left to the system would be written out during the next one's sync.
    if (settles) syncDatabase(entrant.path);
  };
  if (settles) syncDatabase(entrant.path);
  return { entrant, worker, blocks, turn };
}

/** @param {Block} block */
const rateOf = ({ latencies, wallMs }) => (latencies.length / wallMs) * 1000;

/**
 * @param {Entrant} entrant
 * @param {readonly Block[]} all one a round
 * @param {readonly Block[] | null} reference
 * @returns {Result}
 */
function summarise({ name }, all, reference) {
  const latencies = concat(all.map((block) => block.latencies));
  const cpus = concat(all.map((block) => block.cpus));
  const ratios = all.flatMap((block, round) => {
    const other = reference?.[round];
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
