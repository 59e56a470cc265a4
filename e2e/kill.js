// kill -9 in a commit loop: a child commits as fast as it can and is killed at a random moment. Then the file must be a
// sound database that holds every acknowledged commit, whole and once. Again and again, on the same file for a while.
//
//   node e2e/kill.js [--rounds N] [--seed N]
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startChild } from "./child.js";
import { auditFile } from "./inspect.js";
import { stockSqlites } from "./stock.js";
import { randomFrom } from "../demo/random.js";

/** Rounds on one file before a fresh one: killing while a file is made is part of it. */
const ROUNDS_ON_A_FILE = 8;
const PAYLOADS = [10, 2_000, 40_000];
const CHECKPOINTS = [50, 250, 2000];

/**
 * What came of some rounds; `whileOpening`: kills before the first commit of that process was acknowledged.
 * @typedef {{ acknowledged: number, whileOpening: number, problems: string[] }} Kills
 */

/**
 * @param {object} options
 * @param {number} options.rounds
 * @param {number} options.seed
 * @param {boolean} [options.inTurn]  stock SQLites look at one file each, not all of them at every one
 * @param {(line: string) => void} [options.log]
 * @returns {Promise<Kills>}
 */
export async function killRounds({ rounds, seed, inTurn = false, log = () => {} }) {
  const random = randomFrom(seed);
  const folder = await mkdtemp(join(tmpdir(), "perdure-kill-"));
  const problems = [];
  let total = 0;
  let whileOpening = 0;
  /** @type {Map<string, number>} */
  let acknowledged = new Map();
  try {
    for (let round = 0; round < rounds && problems.length === 0; round++) {
      const file = join(folder, `${Math.floor(round / ROUNDS_ON_A_FILE)}.db`);
      if (round % ROUNDS_ON_A_FILE === 0) acknowledged = new Map();
      const plan = planRound(random);
      const before = sum(acknowledged);
      const { hasCommitted, unexpected } = await killOnce(file, plan, acknowledged);
      if (!hasCommitted) whileOpening += 1;
      total += sum(acknowledged) - before;
      const stocks = inTurn ? stockSqlites.filter((_, i) => i === round % stockSqlites.length) : stockSqlites;
      const copy = join(folder, "copy.db");
      const found = [...unexpected, ...(await auditFile(file, copy, acknowledged, plan.inFlight, stocks))];
      problems.push(...found.map((problem) => `seed ${seed}, round ${round}, ${JSON.stringify(plan)}: ${problem}`));
      log(
        `round ${round + 1}/${rounds}: ${plan.kind} ${plan.durability} ×${plan.inFlight}, ${sum(acknowledged)} commits`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { acknowledged: total, whileOpening, problems };
}

/**
 * The same, several files side by side.
 * @param {{ rounds: number, seed: number, lanes: number }} options @returns {Promise<Kills>}
 */
export async function killInLanes({ rounds, seed, lanes }) {
  const all = await Promise.all(
    Array.from({ length: lanes }, async (_, i) => {
      const share = { rounds: Math.floor((rounds + i) / lanes), seed: seed + i, inTurn: true };
      /** @type {Kills} */
      const kills = JSON.parse(await startChild("killer.js", share).nextLine());
      return kills;
    }),
  );
  const total = (/** @type {"acknowledged" | "whileOpening"} */ what) => all.reduce((n, one) => n + one[what], 0);
  return {
    acknowledged: total("acknowledged"),
    whileOpening: total("whileOpening"),
    problems: all.flatMap(({ problems }) => problems),
  };
}

/** @param {() => number} random */
function planRound(random) {
  const kind = random() < 0.5 ? "sync" : "async";
  return {
    kind,
    durability: random() < 0.8 ? "strict" : "relaxed",
    inFlight: kind === "sync" ? 1 : 16,
    payloadBytes: PAYLOADS[Math.floor(random() * PAYLOADS.length)] ?? 10,
    checkpointFrames: CHECKPOINTS[Math.floor(random() * CHECKPOINTS.length)] ?? 500,
    // Now and then while it opens the file, else in the middle of its commits, a few of them after many.
    killAfterMs:
      random() < 0.15 ? { opening: random() * 200 } : { firstCommit: random() * (random() < 0.9 ? 150 : 600) },
  };
}

/**
 * @param {string} file
 * @param {ReturnType<typeof planRound>} plan
 * @param {Map<string, number>} acknowledged  filled in
 */
async function killOnce(file, { killAfterMs, ...options }, acknowledged) {
  /** @type {string[]} */
  const unexpected = [];
  let hasCommitted = false;
  const child = startChild(
    "committer.js",
    { file, ...options, saysOpening: true },
    {
      onLine(line) {
        if (line === "opening") {
          if (killAfterMs.opening !== undefined) setTimeout(child.kill, killAfterMs.opening);
          return;
        }
        const [id = "", version] = line.split(" ");
        const next = (acknowledged.get(id) ?? 0) + 1;
        // A commit whose acknowledgement was killed may lie between two lives; within one there is no gap.
        if (Number(version) < next) unexpected.push(`${line} was acknowledged after version ${next - 1}`);
        acknowledged.set(id, Number(version));
        if (!hasCommitted && killAfterMs.firstCommit !== undefined) setTimeout(child.kill, killAfterMs.firstCommit);
        hasCommitted = true;
      },
    },
  );
  const { signal, errors } = await child.ended;
  if (signal !== "SIGKILL") unexpected.push(`the child ended by itself: ${errors}`);
  return { hasCommitted, unexpected };
}

/** @param {Map<string, number>} versions */
const sum = (versions) => [...versions.values()].reduce((total, version) => total + version, 0);

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { rounds: { type: "string", default: "200" }, seed: { type: "string" } } });
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);
  const { acknowledged, problems } = await killRounds({ rounds: Number(values.rounds), seed, log: say });
  for (const problem of problems) say(problem);
  const readers = [...stockSqlites.map(({ name }) => name), "perdure"].join(", ");
  say(
    `${values.rounds} kills, ${acknowledged} acknowledged commits, read by ${readers}: ${problems.length} problems (seed ${seed})`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
