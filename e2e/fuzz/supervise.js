// Has cases done in a process of their own, so that one that hangs or takes the process down is a finding like any other.
import { mkdtemp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "../child.js";

export const KINDS = /** @type {const} */ (["images", "logs", "indexeddb", "records", "cursors"]);
const CPU_LIMIT_MS = 2000;
const MEMORY_LIMIT_MB = 256;
/** A process that says nothing for this long hangs, however busy the machine is. */
const SILENCE_MS = 60_000;

/**
 * @param {object} options
 * @param {string} options.kind
 * @param {number} options.cases
 * @param {number} options.seed  of the first one; those after it count up
 * @param {(line: string) => void} [options.log]
 */
export async function fuzz({ kind, cases, seed, log = () => {} }) {
  const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const folder = await mkdtemp(join(memory, "perdure-fuzz-"));
  const command = [process.execPath, "--max-old-space-size=512"];
  const start = () => startChild("fuzzer.js", { kind, folder }, { command });
  /** @type {string[]} */
  const findings = [];
  let most = { cpuMs: 0, megabytes: 0 };
  let child = start();
  try {
    for (let i = 0; i < cases; i++) {
      const finding = (/** @type {string} */ what) => findings.push(`${kind}, seed ${seed + i}: ${what}`);
      try {
        const { problem, cpuMs, megabytes } = JSON.parse(await withLimit(child.ask(`${seed + i}`)));
        if (problem !== null) finding(problem);
        if (cpuMs > CPU_LIMIT_MS) finding(`it took ${Math.round(cpuMs)} ms`);
        if (megabytes > MEMORY_LIMIT_MB) finding(`it took ${Math.round(megabytes)} MB`);
        most = { cpuMs: Math.max(most.cpuMs, cpuMs), megabytes: Math.max(most.megabytes, megabytes) };
      } catch (error) {
        finding(error instanceof Error ? error.message : String(error));
        child.kill();
        await child.ended;
        child = start();
      }
      if ((i + 1) % 1000 === 0) log(`${kind}: ${i + 1}/${cases}, ${findings.length} findings`);
    }
    child.hangUp();
    await child.ended;
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
  return { findings, most };
}

/** @param {Promise<string>} answer */
async function withLimit(answer) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hangs: nothing said for ${SILENCE_MS} ms`)), SILENCE_MS);
  });
  try {
    return await /** @type {Promise<string>} */ (Promise.race([answer, silence]));
  } finally {
    clearTimeout(timer);
  }
}
