// What Playwright calls before all tests. It wants a default export.
import { readdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { buildPages } from "./build.ts";

const RESULTS = new URL("results/", import.meta.url);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Traces and screenshots are kept until the next run. */
async function sweepResults(): Promise<void> {
  for (const run of await readdir(RESULTS).catch(() => [])) {
    if (!isAlive(Number(run))) await rm(fileURLToPath(new URL(run, RESULTS)), { recursive: true, force: true });
  }
}

export default async function setUp(): Promise<() => Promise<void>> {
  await sweepResults();
  return buildPages();
}
