// Runs the sections, prints what they found, judges it, and writes all of it down when asked to.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as os from "node:os";
import { buildIndexed, buildPlain } from "./databases.js";
import { describeMachine } from "./machine.js";
import { number, table } from "./report.js";
import { ON_REQUEST, SECTIONS } from "./sections/index.js";
import { judge } from "./targets.js";

/** @typedef {import("./sections/index.js").SectionName} SectionName */

/**
 * @param {{ quick: boolean, only: readonly string[], json: string | null }} options
 * @returns {Promise<number>} the exit code; a target that was missed is no failure of the bench
 */
export async function main({ quick, only, json }) {
  const names = /** @type {SectionName[]} */ (Object.keys(SECTIONS));
  const unknown = only.find((name) => !Object.hasOwn(SECTIONS, name));
  if (unknown !== undefined) {
    console.error(`no section is called ${unknown}; there are ${names.join(", ")}`);
    return 2;
  }
  const wanted = names.filter((name) => (only.length > 0 ? only.includes(name) : !ON_REQUEST.includes(name)));
  // Beside the bench, not in the system's temporary folder, which is memory on many machines: a sync costs nothing there.
  mkdirSync(`${import.meta.dirname}/results`, { recursive: true });
  const folder = mkdtempSync(`${import.meta.dirname}/results/run-`);
  const cleanUp = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", cleanUp);
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(signal, () => process.exit(1));

  const machine = describeMachine(folder);
  const started = new Date();
  console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.os}, ${machine.filesystem}, Node ${machine.node}`);
  if (machine.filesystem === "tmpfs") console.log("NOTE: this file system is memory; syncs cost nothing here");
  if ((machine.loadAverage[0] ?? 0) > 0.5)
    console.log(`NOTE: the machine is busy (load ${number(machine.loadAverage[0])})`);

  /** @type {import("./sections/index.js").Results} */
  const results = {};
  for (const name of wanted) {
    const work = `${folder}/${name}`;
    mkdirSync(work);
    const context = {
      databases: builder(folder),
      folder: work,
      quick,
      print: (/** @type {string} */ text) => console.log(text),
    };
    Object.assign(results, { [name]: await SECTIONS[name](context) });
    rmSync(work, { recursive: true });
  }

  const targets = judge(results);
  const seconds = (Date.now() - started.getTime()) / 1000;
  if (targets.length > 0) {
    console.log(`\nTargets${quick ? " (a quick run: for a look, not for a claim)" : ""}`);
    console.log(
      table(
        ["", "asked", "reached", ""],
        targets.map((one) => [one.target, one.asked, one.reached, one.ok ? "ok" : "MISSED"]),
      ),
    );
  }
  console.log(`\n${number(seconds)} s, load average ${os.loadavg().map(number).join(" ")}`);
  if (json !== null) {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    const facts = {
      perdure: version,
      started: started.toISOString(),
      seconds,
      quick,
      machine,
      loadAverageAfter: os.loadavg(),
    };
    writeFileSync(json, `${JSON.stringify({ ...facts, targets, results }, null, 2)}\n`);
    console.log(`written to ${json}`);
  }
  return 0;
}

/** Databases of a size are built once and stay for later sections. @param {string} folder */
function builder(folder) {
  return async (/** @type {number} */ rows) => {
    const plain = `${folder}/plain-${rows}.db`;
    const indexed = `${folder}/indexed-${rows}.db`;
    if (!existsSync(plain)) {
      await buildPlain(plain, rows);
      await buildIndexed(plain, indexed);
    }
    return { plain, indexed };
  };
}
