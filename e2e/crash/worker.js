// One process of `npm run crash`: crashes the cases it is told, one after the other, and tells what came of each.
import { CASES, crash, nameOf } from "./places.js";

/**
 * @typedef {{ name: string, seed: number, limit: number, only?: string }} Job
 * @typedef {{ job: Job, points: number, crashes: number, counts: [string, number][], violations: string[] }} Result
 */

/** @param {Job} job */
async function work(job) {
  const { name, seed, limit, only } = job;
  const one = CASES.find((candidate) => nameOf(candidate) === name);
  if (one === undefined) throw new Error(`there is no case ${name}`);
  const how = { seed, limit, variants: 3, again: 2, ...(only === undefined ? {} : { only, limit: Infinity }) };
  const { points, crashes, counts, violations } = await crash(one, how);
  /** @type {Result} */
  const result = {
    ...{ job, points, crashes, counts: [...counts] },
    violations: violations.map(({ reproduction, error }) => `${reproduction}: ${String(error)}`),
  };
  process.send?.(result);
}

// Who asked is gone.
process.on("disconnect", () => process.exit());
process.on("message", (/** @type {Job} */ job) => void work(job));
