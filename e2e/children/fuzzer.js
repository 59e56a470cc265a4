// Does cases, one for each line it is told, and says what came of each, with what it took: CPU time, and memory beyond
// what there was before.
//
//   fuzzer.js {kind, folder}, then seeds on stdin
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chanceFrom } from "../fuzz/chance.js";
import { damagedImage, damagedLog, soundFiles, tryFiles } from "../fuzz/files.js";
import { tryCursors, tryRecords } from "../fuzz/values.js";

/** @typedef {import("../fuzz/chance.js").Chance} Chance */

const { kind, folder } = JSON.parse(process.argv[2] ?? "");
const { plain, withLog } = await soundFiles();
// The package as a page has it, where names are places in IndexedDB and no files.
const inPage = kind === "indexeddb" ? await import("../fuzz/indexeddb.js") : null;
const places = (await inPage?.soundPlaces()) ?? [];
let count = 0;
const here = () => join(folder, `${process.pid}-${count++}`);

/** @type {Record<string, (chance: Chance) => Promise<void>>} */
const KINDS = {
  images: (chance) => tryFiles(damagedImage(chance, plain), here(), chance),
  logs: (chance) => tryFiles(damagedLog(chance, withLog), here(), chance),
  indexeddb: async (chance) => inPage?.tryPlace(places, chance),
  records: tryRecords,
  cursors: tryCursors,
};
const run = KINDS[kind];
if (run === undefined) throw new Error(`no kind of cases is called ${kind}`);

/** Linux tells the most memory there was since it was asked to forget. */
const PEAK = "/proc/self/clear_refs";
const megabytes = (/** @type {"VmHWM" | "VmRSS"} */ what) =>
  Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;

// What is loaded on the way is no case's.
await run(chanceFrom(0)).catch(() => {});
for await (const line of createInterface({ input: process.stdin })) {
  const measures = existsSync(PEAK);
  if (measures) writeFileSync(PEAK, "5");
  const before = measures ? megabytes("VmRSS") : 0;
  const start = process.cpuUsage();
  let problem = null;
  try {
    await run(chanceFrom(Number(line)));
  } catch (error) {
    problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const { user, system } = process.cpuUsage(start);
  const grown = measures ? megabytes("VmHWM") - before : 0;
  process.stdout.write(`${JSON.stringify({ problem, cpuMs: (user + system) / 1000, megabytes: grown })}\n`);
}
