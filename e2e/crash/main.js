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
const seed = wholeNumber("seed", values.seed ?? String(Math.floor(Math.random() * 1e6)), 0);
const wanted = wholeNumber("points", values.points, 1);
const kills = wholeNumber("kills", values.kills, 0);
const processes = wholeNumber("processes", values.processes, 1);
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
  // All cores are at work: a garbage collector with threads of its own would only take them from each other.
  const execArgv = ["--single-threaded-gc"];
  const child = fork(fileURLToPath(new URL("worker.js", import.meta.url)), [], { execArgv });
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
await Promise.all(Array.from({ length: processes }, work));
for (const line of summarise(results)) say(line);
const points = results.reduce((sum, result) => sum + result.points, 0);
let violations = results.reduce((sum, result) => sum + result.violations.length, 0);
say(`${points} points, ${crashes} simulated crashes, ${violations} violations (${seconds()})`);

if (values.case === undefined) {
  // Twice as many as work at once: each waits for the disk, and for its processes to start and to die.
  const lanes = 2 * processes;
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

/** What crashes nothing because it was told nonsense would look like a proof. @param {string} name @param {string} text @param {number} least */
function wholeNumber(name, text, least) {
  const number = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(number) || number < least)
    throw new Error(`--${name} is a whole number, ${least} or more, not ${text}`);
  return number;
}

/** Every broken law must be found; one that is not is a violation of ours. */
async function tryMutants() {
  let missed = 0;
  await sideBySide(MUTANTS, async (mutant) => {
    const found = await runMutant(mutant);
    if (found === 0) missed += 1;
    say(`broken on purpose: ${mutant.name}: ${found === 0 ? "NOT FOUND" : "found"} (${seconds()})`);
  });
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
    await sideBySide(some, async (fault) => {
      const outcome = await runFault(scenario, fault);
      hits += outcome.hits;
      bad += outcome.problems.length > 0 ? 1 : 0;
      for (const problem of outcome.problems) say(`    ${scenario.kind} ${JSON.stringify(fault)}: ${problem}`);
    });
  }
  say(`${hits} system calls failed or killed, ${bad} violations (${seconds()})`);
  return bad;
}

/** Each of `all`, as many at a time as there are processes. @template T @param {readonly T[]} all @param {(one: T) => Promise<void>} doOne */
async function sideBySide(all, doOne) {
  const left = all.values();
  await Promise.all(
    Array.from({ length: processes }, async () => {
      for (const one of left) await doOne(one);
    }),
  );
}
