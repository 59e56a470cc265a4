// Power cuts: a store commits while every call it makes is recorded, and again and again a disk is made up as the power
// might have left it at that moment. Each must be a sound database with every acknowledged commit. Meanwhile syncs may
// fail, and the process may be killed and started again.
//
//   node e2e/power/power.js [--seed N] [--commits N]
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { newExecution } from "perdure";
import { randomFrom } from "../../demo/random.js";
import { nextCommit } from "../books.js";
import { auditFile } from "../inspect.js";
import { openStore } from "../open.js";
import { stockSqlites } from "../stock.js";
import { KILLED, recording, SYNC_FAILED } from "./record.js";

const PAYLOADS = [10, 20_000, 150_000];
const FAILURES = 0.03;
const DEATHS = 0.008;

/**
 * @typedef {{ kind: "sync" | "async", syncsFail: boolean, dies: boolean }} Case
 * @typedef {{ files: Map<string, Uint8Array>, acknowledged: number, inFlight: number }} Moment
 */

/** @type {Case[]} */
export const CASES = [
  { kind: "sync", syncsFail: false, dies: false },
  { kind: "sync", syncsFail: true, dies: true },
  { kind: "async", syncsFail: false, dies: true },
  { kind: "async", syncsFail: true, dies: false },
];

/**
 * @param {Case & { seed: number, commits: number, share: number }} options  share: of all calls that matter, how many
 *   are a moment to look at
 * @returns {Promise<{ looks: number, problems: string[] }>}
 */
export async function cutPower({ kind, syncsFail, dies, seed, commits, share }) {
  const random = randomFrom(seed);
  const folder = await mkdtemp(join(tmpdir(), "perdure-power-"));
  const file = join(folder, "work", "store.db");
  await mkdir(dirname(file));
  /** @type {string[]} */
  const problems = [];
  /** @type {Moment[]} */
  const moments = [];
  const now = { acknowledged: 0, inFlight: 0 };
  let looks = 0;

  /** Looks at what was collected, from outside of any call. */
  async function look() {
    for (const moment of moments.splice(0)) {
      const found = await auditMoment(join(folder, "found"), moment);
      problems.push(
        ...found.map((problem) => `seed ${seed}, look ${looks}, at version ${moment.acknowledged}: ${problem}`),
      );
      looks += 1;
    }
  }

  /** From opening to closing, or until it is killed. */
  async function live() {
    const store = await openStore({ file, kind });
    const exe = (await store.load("lane")) ?? newExecution({ id: "lane", definition_id: "lane" });
    // What can be seen is durable (L3).
    Object.assign(now, { acknowledged: exe.version, inFlight: 0 });
    while (now.acknowledged < commits && problems.length === 0) {
      now.inFlight = 1;
      try {
        await store.commit(exe, nextCommit(exe, PAYLOADS[Math.floor(random() * PAYLOADS.length)] ?? 0));
        Object.assign(now, { acknowledged: exe.version, inFlight: 0 });
      } catch (error) {
        if (!isFrom(error, SYNC_FAILED) || isFrom(error, KILLED)) throw error;
      }
      await look();
    }
    await store.close();
  }

  const options = {
    folder: dirname(file),
    /** @param {import("./disk.js").Disk} disk */
    before(disk) {
      if (random() < share) moments.push({ files: disk.afterPowerCut(random), ...now });
    },
    syncFails: () => syncsFail && random() < FAILURES,
    dies: () => dies && random() < DEATHS,
  };
  try {
    await recording(options, async (revive) => {
      while (now.acknowledged < commits && problems.length === 0) {
        try {
          await live();
        } catch (error) {
          if (!isFrom(error, KILLED) && !isFrom(error, SYNC_FAILED)) throw error;
          revive();
        }
        await look();
      }
    });
  } finally {
    await rm(folder, { recursive: true });
  }
  return { looks, problems };
}

/** Whether an error is what the test itself threw. @param {unknown} error @param {string} message @returns {boolean} */
const isFrom = (error, message) =>
  error instanceof Error && (error.message === message || isFrom(error.cause, message));

/** Lock files are left out: after a power cut their owners are known to be dead. */
/** @param {string} folder @param {Moment} moment */
async function auditMoment(folder, { files, acknowledged, inFlight }) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const [path, bytes] of files) {
    if (!path.includes("-lock")) await writeFile(join(folder, basename(path)), bytes);
  }
  const books = new Map(acknowledged === 0 ? [] : [["lane", acknowledged]]);
  return auditFile(join(folder, "store.db"), join(folder, "copy.db"), books, inFlight, stockSqlites.slice(0, 1));
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { seed: { type: "string" }, commits: { type: "string", default: "150" } } });
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);
  for (const one of CASES) {
    const { looks, problems } = await cutPower({ ...one, seed, commits: Number(values.commits), share: 0.2 });
    say(`${JSON.stringify(one)}: ${looks} power cuts, ${problems.length} problems (seed ${seed})`);
    for (const problem of problems) say(`    ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
}
