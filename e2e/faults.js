// Faults of the system under a store: strace makes one system call fail, or kills the process when it is made. For each
// call of a scenario (children/scenario.js) and each fault, what was acknowledged must be in the file, what was rejected
// must not, and the store must have gone on when the fault was over.
//
//   node e2e/faults.js [--seed N]
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { randomFrom } from "../demo/random.js";
import { startChild } from "./child.js";
import { auditFile } from "./inspect.js";
import { isInstalled } from "./stock.js";

/**
 * What the scenario says.
 * @typedef {{ type: "acknowledged", id: string, version: number } | { type: "rejected", code: string, message: string }
 *   | { type: "broken", text: string } | { type: "gave up" } | { type: "end" }} Said
 *
 * @typedef {object} Fault
 * @property {string} call  the system call
 * @property {number} from  the first one that fails, counted per thread
 * @property {number} to  the last one; Infinity for all that follow
 * @property {string} does  "error=EIO", "signal=SIGKILL"
 *
 * @typedef {{ kind: "sync" | "async", lanes: number, rounds: number }} Scenario
 * @typedef {{ fault: Fault, hits: number, codes: string[], problems: string[] }} Outcome
 */

/** @type {Scenario[]} */
export const SCENARIOS = [
  { kind: "sync", lanes: 1, rounds: 16 },
  { kind: "async", lanes: 4, rounds: 6 },
];
const CALLS = ["fsync", "fdatasync", "pwrite64", "ftruncate", "rename", "link", "unlink"];
/** Calls of one kind that are tried: all, unless there are more than these. Taking the lease is the same every time. */
const SAMPLES = new Map([
  ["pwrite64", 48],
  ["fdatasync", 48],
  ["link", 12],
  ["unlink", 12],
]);
/** Longer than any fault that ends. */
const ATTEMPTS = 8;

export const hasStrace = isInstalled("strace", ["-f", "-e", "inject=fsync:error=EIO", "true"]);

/** How often the busiest thread makes each call. @param {Scenario} scenario @returns {Promise<Map<string, number>>} */
export async function countCalls(scenario) {
  return inFolder(async (folder) => {
    await runScenario(scenario, folder, []);
    const counts = new Map();
    for (const line of (await readFile(join(folder, "log"), "utf8")).split("\n")) {
      const key = /^\d+ +\w+(?=\()/.exec(line)?.[0];
      if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const busiest = new Map();
    for (const [key, count] of counts) {
      const call = key.split(/ +/)[1] ?? "";
      busiest.set(call, Math.max(count, busiest.get(call) ?? 0));
    }
    return busiest;
  });
}

/**
 * Runs the scenario under a fault.
 * @param {Scenario} scenario @param {Fault} fault @returns {Promise<Outcome>}
 */
export async function runFault(scenario, fault) {
  return inFolder(async (folder) => {
    const { call, from, to, does } = fault;
    const when = to === Infinity ? `${from}+` : from === to ? `${from}` : `${from}..${to}`;
    const { said, signal, errors } = await runScenario(scenario, folder, ["-e", `inject=${call}:${does}:when=${when}`]);
    const problems = said.flatMap((one) => (one.type === "broken" ? [one.text] : []));
    const acknowledged = new Map();
    for (const one of said) if (one.type === "acknowledged") acknowledged.set(one.id, one.version);
    const killed = signal === "SIGKILL";
    const ended = said.at(-1)?.type === "end";
    const gaveUp = said.at(-1)?.type === "gave up";
    if (!killed && !ended && !(gaveUp && to === Infinity)) problems.push(`it did not come to its end: ${errors}`);
    const mayBeMore = killed ? scenario.lanes : 0;
    problems.push(...(await auditFile(join(folder, "store.db"), join(folder, "copy.db"), acknowledged, mayBeMore)));
    const hits = (await readFile(join(folder, "log"), "utf8"))
      .split("\n")
      .filter((line) => line.includes("(INJECTED")).length;
    const codes = said.flatMap((one) => (one.type === "rejected" ? [one.code] : []));
    return { fault, hits: hits + (killed ? 1 : 0), codes, problems };
  });
}

/** @param {Scenario} scenario @param {string} folder @param {string[]} inject */
async function runScenario(scenario, folder, inject) {
  /** @type {Said[]} */
  const said = [];
  // strace stops at fewer calls with seccomp-bpf, but then it cannot send signals.
  const fast = inject.some((word) => word.includes("signal=")) ? [] : ["--seccomp-bpf"];
  const trace = ["-f", ...fast, "-qq", "-o", join(folder, "log"), "-e", `trace=${CALLS.join(",")}`];
  const options = { file: join(folder, "store.db"), ...scenario, attempts: ATTEMPTS };
  const child = startChild("scenario.js", options, {
    command: ["strace", ...trace, ...inject, process.execPath],
    onLine: (line) => said.push(JSON.parse(line)),
    // strace counts calls per thread: let there be one that syncs.
    env: { UV_THREADPOOL_SIZE: "1" },
  });
  return { said, ...(await child.ended) };
}

/** @template T @param {(folder: string) => Promise<T>} work @returns {Promise<T>} */
async function inFolder(work) {
  const folder = await mkdtemp(join(tmpdir(), "perdure-faults-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every call once with each fault that can befall it; of calls that are made very often, a sample. */
/** @param {Map<string, number>} counts @param {() => number} random @returns {Fault[]} */
export function allFaults(counts, random) {
  const faults = [];
  for (const [call, count] of counts) {
    const all = Array.from({ length: count }, (_, i) => i + 1);
    const share = (SAMPLES.get(call) ?? count) / count;
    const sample = all.filter(() => random() < share);
    for (const from of sample) {
      faults.push({ call, from, to: from, does: "signal=SIGKILL" });
      faults.push({ call, from, to: from, does: call === "pwrite64" && from % 2 === 0 ? "error=ENOSPC" : "error=EIO" });
      if (from % 4 === 0) faults.push({ call, from, to: from + 2, does: "error=EIO" });
      if (from % 8 === 0) faults.push({ call, from, to: Infinity, does: "error=EIO" });
    }
  }
  return faults;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { seed: { type: "string" } } });
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);
  if (!hasStrace) throw new Error("strace is needed to inject faults, and it is not installed");
  let bad = 0;
  let runs = 0;
  for (const scenario of SCENARIOS) {
    const counts = await countCalls(scenario);
    const faults = allFaults(counts, randomFrom(seed));
    say(`${scenario.kind}: ${faults.length} faults in ${[...counts].map(([call, n]) => `${n} ${call}`).join(", ")}`);
    for (const fault of faults) {
      const { hits, codes, problems } = await runFault(scenario, fault);
      runs += 1;
      bad += problems.length > 0 ? 1 : 0;
      const name = `${scenario.kind} ${fault.call} ${fault.from}..${fault.to} ${fault.does}`;
      if (problems.length > 0) say(`${name}, hit ${hits}, rejected ${codes.join(" ") || "nothing"}`);
      for (const problem of problems) say(`    ${problem}`);
    }
  }
  say(`${runs} faults: ${bad} with problems (seed ${seed})`);
  process.exitCode = bad === 0 ? 0 : 1;
}
