// One contender in a process of its own: nobody's garbage is collected on somebody else's time. Told by messages what
// to open and when to run a block of commits; only the commits are timed, never the making of their inputs.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { openContender } from "./contenders/index.js";
import { Profile } from "./profile.js";
import { makeCommits, makeRandom } from "./workload.js";

/** @typedef {{ name: string, source: string, path: string, rows: number }} Opening */

/** @typedef {{ count: number, lanes: number, cpuEach: boolean, profiled: boolean }} BlockRequest */

/**
 * @typedef {object} Block
 * @property {Float64Array} latencies milliseconds of each commit
 * @property {Float64Array} cpus CPU milliseconds of each commit, empty unless asked for
 * @property {number} wallMs
 * @property {number} cpuMs of all threads of the process
 * @property {number} syncs calls of fsync and fdatasync through node:fs
 * @property {number | null} bytesWritten through system calls, whoever made them; null where the system does not tell
 */

let syncs = 0;
countSyncs();

/** @type {{ contender: import("./contenders/index.js").Contender, versions: Uint32Array } | null} */
let opened = null;
const profile = new Profile();
let profiledCommits = 0;
let random = makeRandom(0);

/** Counts in place: live bindings of node:fs follow, so the package is counted as it is. */
function countSyncs() {
  for (const name of /** @type {const} */ (["fsync", "fdatasync", "fsyncSync", "fdatasyncSync"])) {
    const original = /** @type {(...args: unknown[]) => unknown} */ (fs[name]);
    Object.assign(fs, {
      [name](/** @type {unknown[]} */ ...args) {
        syncs++;
        return original(...args);
      },
    });
  }
  syncBuiltinESMExports();
}

function bytesWritten() {
  try {
    return Number(/^wchar: (\d+)/m.exec(fs.readFileSync("/proc/self/io", "utf8"))?.[1] ?? NaN);
  } catch {
    return NaN;
  }
}

/** @param {Opening} opening */
async function open({ name, source, path, rows }) {
  random = makeRandom(rows);
  opened = {
    contender: await openContender(name, source, path),
    versions: new Uint32Array(rows).fill(1),
  };
}

/** @param {BlockRequest} request @returns {Promise<Block>} */
async function runBlock({ count, lanes, cpuEach, profiled }) {
  if (opened === null) throw new Error("nothing is open");
  const { contender, versions } = opened;
  const commits = makeCommits(count, Math.max(1, lanes), versions, random);
  const latencies = new Float64Array(count);
  const cpus = new Float64Array(cpuEach ? count : 0);
  const before = { syncs, bytes: bytesWritten() };
  if (profiled) await profile.start();
  const cpu = process.cpuUsage();
  const start = performance.now();
  if (lanes === 0) runBlocking(contender, commits, latencies, cpus);
  else await runLanes(contender, commits, latencies, lanes);
  const wallMs = performance.now() - start;
  const cpuMs = cpuMsSince(cpu);
  if (profiled) {
    await profile.stop();
    profiledCommits += count;
  }
  const bytes = bytesWritten() - before.bytes;
  return {
    latencies,
    cpus,
    wallMs,
    cpuMs,
    syncs: syncs - before.syncs,
    bytesWritten: Number.isNaN(bytes) ? null : bytes,
  };
}

/**
 * @param {import("./contenders/index.js").Contender} contender
 * @param {import("./workload.js").Commit[]} commits
 * @param {Float64Array} latencies
 * @param {Float64Array} cpus
 */
function runBlocking(contender, commits, latencies, cpus) {
  commits.forEach((commit, i) => {
    const cpu = cpus.length > 0 ? process.cpuUsage() : null;
    const start = performance.now();
    void contender.commit(commit);
    latencies[i] = performance.now() - start;
    if (cpu !== null) cpus[i] = cpuMsSince(cpu);
  });
}

/**
 * @param {import("./contenders/index.js").Contender} contender
 * @param {import("./workload.js").Commit[]} commits
 * @param {Float64Array} latencies
 * @param {number} lanes
 */
async function runLanes(contender, commits, latencies, lanes) {
  const lane = async (/** @type {number} */ first) => {
    for (let i = first; i < commits.length; i += lanes) {
      const start = performance.now();
      await contender.commit(/** @type {import("./workload.js").Commit} */ (commits[i]));
      latencies[i] = performance.now() - start;
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)));
}

/** @param {NodeJS.CpuUsage} before */
function cpuMsSince(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** @param {{ open?: Opening, block?: BlockRequest, close?: true }} message */
async function answer(message) {
  if (message.open !== undefined) return open(message.open);
  if (message.block !== undefined) return runBlock(message.block);
  await opened?.contender.close();
  return profiledCommits > 0 ? profile.hottest(profiledCommits) : null;
}

process.on("message", (/** @type {Parameters<typeof answer>[0]} */ message) => {
  answer(message).then(
    (result) => process.send?.({ result }),
    (error) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
