// The crash matrix: every place crashed at every boundary in every way, on simulated disks, until there were enough; then
// processes that are really killed, system calls that really fail, and copies of the package with a law broken on purpose,
// which must be found out. Prints what it did, and fails when anything is wrong.
//
//   npm run crash -- [--points N] [--kills N] [--seed N] [--processes N] [--no-faults] [--no-mutants]
//   npm run crash -- --case "file, one by one, strict" --seed N --only "torn 143.1"    one crash again
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allFaults, countCalls, hasStrace, runFault, SCENARIOS } from "../faults.js";
import { killInLanes } from "../kill.js";
import { randomFrom } from "../../demo/random.js";
import { MUTANTS, runMutant } from "./mutants.js";
import { CASES, nameOf } from "./places.js";
import { summarise } from "./summary.js";

/** @typedef {import("./worker.js").Job} Job @typedef {import("./worker.js").Result} Result */

/** Crashes in one life, about all that a short one has. */
const CRASHES_IN_A_LIFE = 2500;
/** Faults of the system that are tried: each takes a process of its own under strace. */
const FAULTS = 60;

const { values } = parseArgs({
  options: {
    points: { type: "string", default: "100000" },
    kills: { type: "string", default: "1000" },
    seed: { type: "string" },
    processes: { type: "string", default: String(Math.min(availableParallelism(), 8)) },
    "no-faults": { type: "boolean", default: false },
    "no-mutants": { type: "boolean", default: false },
    case: { type: "string" },
    only: { type: "string" },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
const wanted = Number(values.points);
const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);
const start = performance.now();
const seconds = () => `${((performance.now() - start) / 1000).toFixed(0)} s`;

/** @type {Result[]} */
const results = [];
let crashes = 0;

/** What is to be done next, or null. */
const nextJob = (() => {
  const names = CASES.map(nameOf).filter((name) => values.case === undefined || name === values.case);
  if (names.length === 0) throw new Error(`no such case; there are: ${CASES.map(nameOf).join("; ")}`);
  let given = 0;
  return () => {
    const life = Math.floor(given / names.length);
    const isEnough = values.only === undefined ? crashes >= wanted : life > 0;
    if (isEnough || results.some(({ violations }) => violations.length > 0)) return null;
    const name = /** @type {string} */ (names[given++ % names.length]);
    return {
      name,
      seed: seed + life,
      limit: CRASHES_IN_A_LIFE,
      ...(values.only === undefined ? {} : { only: values.only }),
    };
  };
})();

/** A process that works until there is nothing to do. */
async function work() {
  const child = fork(fileURLToPath(new URL("worker.js", import.meta.url)));
  for (let job = nextJob(); job !== null; job = nextJob()) {
    const told = job;
    /** @type {Result} */
    const result = await new Promise((resolve, reject) => {
      child.once("message", (message) => resolve(/** @type {Result} */ (message)));
      child.once("exit", (code) => reject(new Error(`${told.name}, seed ${told.seed}: the process ended (${code})`)));
      child.send(told);
    });
    child.removeAllListeners("exit").removeAllListeners("message");
    crashes += result.crashes;
    results.push(result);
    say(
      `${told.name}, seed ${told.seed}: ${result.points} points, ${result.crashes} crashes, ${result.violations.length} violations (${seconds()})`,
    );
    for (const violation of result.violations) say(`    ${violation}`);
  }
  child.disconnect();
}

say(`seed ${seed}`);
await Promise.all(Array.from({ length: Number(values.processes) }, work));
for (const line of summarise(results)) say(line);
const points = results.reduce((sum, result) => sum + result.points, 0);
let violations = results.reduce((sum, result) => sum + result.violations.length, 0);
say(`${points} points, ${crashes} simulated crashes, ${violations} violations (${seconds()})`);

if (values.case === undefined) {
  const kills = Number(values.kills);
  // Twice as many as work at once: each waits for the disk, and for its processes to start and to die.
  const lanes = 2 * Number(values.processes);
  const { acknowledged, whileOpening, problems } = await killInLanes({ rounds: kills, seed, lanes });
  for (const problem of problems) say(`    ${problem}`);
  violations += problems.length;
  say(
    `${kills} kills, ${whileOpening} of them while opening, ${acknowledged} acknowledged commits, ${problems.length} violations (${seconds()})`,
  );
  if (values["no-faults"] || !hasStrace)
    say("no faults of the system were tried: strace is not installed, or not wanted");
  else violations += await tryFaults();
  if (!values["no-mutants"]) violations += await tryMutants();
}
say(`violations: ${violations} (seed ${seed}, ${seconds()})`);
process.exitCode = violations === 0 ? 0 : 1;

/** Every broken law must be found; one that is not is a violation of ours. */
async function tryMutants() {
  let missed = 0;
  for (const mutant of MUTANTS) {
    const found = await runMutant(mutant);
    if (found === 0) missed += 1;
    say(`broken on purpose: ${mutant.name}: ${found === 0 ? "NOT FOUND" : "found"} (${seconds()})`);
  }
  return missed;
}

/** Some of the faults of `npm run test:faults`. */
async function tryFaults() {
  let bad = 0;
  let hits = 0;
  for (const scenario of SCENARIOS) {
    const random = randomFrom(seed);
    const all = allFaults(await countCalls(scenario), random);
    const some = all.filter(() => random() < FAULTS / SCENARIOS.length / all.length);
    for (const fault of some) {
      const outcome = await runFault(scenario, fault);
      hits += outcome.hits;
      bad += outcome.problems.length > 0 ? 1 : 0;
      for (const problem of outcome.problems) say(`    ${scenario.kind} ${JSON.stringify(fault)}: ${problem}`);
    }
  }
  say(`${hits} system calls failed or killed, ${bad} violations (${seconds()})`);
  return bad;
}
