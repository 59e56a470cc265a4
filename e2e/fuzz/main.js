// Fuzzing from the command line: hostile files, logs, places in IndexedDB, records and cursors, 10,000 of each. Prints how
// to repeat a finding.
//
//   node e2e/fuzz/main.js [--kind images] [--cases N] [--seed N]
import { argv, stdout } from "node:process";
import { parseArgs } from "node:util";
import { fuzz, KINDS } from "./supervise.js";

const { values } = parseArgs({
  args: argv.slice(2),
  options: { kind: { type: "string" }, cases: { type: "string" }, seed: { type: "string" } },
});
const cases = Number(values.cases ?? 10_000);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
/** @param {string} line */
const say = (line) => void stdout.write(`${line}\n`);
let found = 0;
for (const kind of values.kind === undefined ? KINDS : [values.kind]) {
  say(`${kind}: ${cases} cases from seed ${seed}`);
  const { findings, most } = await fuzz({ kind, cases, seed, log: say });
  for (const finding of findings) say(finding);
  say(
    `${kind}: ${findings.length} findings in ${cases} cases; at the most ${Math.round(most.cpuMs)} ms CPU and ${Math.round(most.megabytes)} MB`,
  );
  if (findings.length > 0) say(`to repeat one: node e2e/fuzz/main.js --kind ${kind} --cases 1 --seed ITS_SEED`);
  found += findings.length;
}
process.exitCode = found === 0 ? 0 : 1;
