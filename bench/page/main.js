// Runs the sections in a browser, prints what they found, judges it, writes it down and draws it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as os from "node:os";
import { describeMachine } from "../machine.js";
import { number, table } from "../report.js";
import { findBrowser } from "./browser.js";
import { buildPage } from "./build.js";
import { drawChart } from "./chart.js";
import { imageBuilder } from "./images.js";
import { SECTIONS } from "./sections/index.js";
import { serve } from "./serve.js";
import { withSession } from "./session.js";
import { judge } from "./targets.js";

/** @typedef {import("./sections/index.js").SectionName} SectionName */

/**
 * @param {{ browser: string, quick: boolean, only: readonly string[], write: boolean }} options
 * @returns {Promise<number>} the exit code; a target that was missed is no failure of the bench
 */
export async function main({ browser, quick, only, write }) {
  const names = /** @type {SectionName[]} */ (Object.keys(SECTIONS));
  const unknown = only.find((name) => !Object.hasOwn(SECTIONS, name));
  if (unknown !== undefined) {
    console.error(`no section is called ${unknown}; there are ${names.join(", ")}`);
    return 2;
  }
  if (browser !== "chromium" && browser !== "firefox") {
    console.error(`no browser is called ${browser}; there are chromium, firefox`);
    return 2;
  }
  // On the disk of the repository: in a folder that is memory a sync costs nothing.
  mkdirSync(`${import.meta.dirname}/../results`, { recursive: true });
  const folder = mkdtempSync(`${import.meta.dirname}/../results/page-`);
  const cleanUp = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", cleanUp);
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(signal, () => process.exit(1));

  mkdirSync(`${folder}/images`);
  await buildPage(`${folder}/page`);
  const server = await serve([`${folder}/page`, folder]);
  /** @type {import("./session.js").Tools} */
  const tools = {
    browser,
    executablePath: findBrowser(browser),
    url: server.url,
    folder,
    images: imageBuilder(`${folder}/images`),
    quick,
    print: (/** @type {string} */ text) => console.log(text),
  };
  try {
    const machine = describeMachine(folder);
    const started = new Date();
    const userAgent = await withSession(tools, async ({ version }) => version());
    console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.os}, ${machine.filesystem}\n${userAgent}`);
    if (machine.filesystem === "tmpfs") console.log("NOTE: this file system is memory; syncs cost nothing here");
    if ((machine.loadAverage[0] ?? 0) > 0.5)
      console.log(`NOTE: the machine is busy (load ${number(machine.loadAverage[0])})`);
    /** @type {import("./sections/index.js").Results} */
    const results = {};
    for (const name of names) {
      if (only.length > 0 && !only.includes(name)) continue;
      Object.assign(results, { [name]: await SECTIONS[name](tools) });
    }
    const targets = judge(results);
    console.log(`\nTargets${quick ? " (a quick run: for a look, not for a claim)" : ""}`);
    console.log(
      table(
        ["", "asked", "reached", ""],
        targets.map((one) => [one.target, one.asked, one.reached, one.ok ? "ok" : "MISSED"]),
      ),
    );
    const seconds = (Date.now() - started.getTime()) / 1000;
    console.log(`\n${number(seconds)} s, load average ${os.loadavg().map(number).join(" ")}`);
    if (write) {
      const facts = { perdure: versionOf("../.."), started: started.toISOString(), seconds, quick, userAgent, machine };
      const peers = Object.fromEntries(PEERS.map((name) => [name, versionOf(`../node_modules/${name}`)]));
      const path = `${import.meta.dirname}/results/${browser}`;
      mkdirSync(`${import.meta.dirname}/results`, { recursive: true });
      const all = { ...facts, peers, loadAverageAfter: os.loadavg(), targets, results };
      writeFileSync(`${path}.json`, `${JSON.stringify(all, shorten, 1)}\n`);
      if (results.commits)
        writeFileSync(`${path}.svg`, drawChart(results.commits, `${nameOf(userAgent)}, ${os.type()}`));
      console.log(`written to ${path}.json${results.commits ? " and .svg" : ""}`);
    }
  } finally {
    server.close();
  }
  return 0;
}

const PEERS = ["@journeyapps/wa-sqlite", "@sqlite.org/sqlite-wasm", "sql.js", "idb-keyval"];

/** @param {string} folder */
function versionOf(folder) {
  return JSON.parse(readFileSync(`${import.meta.dirname}/${folder}/package.json`, "utf8")).version;
}

/** @param {string} userAgent */
const nameOf = (userAgent) =>
  (/(?:Chrome|Firefox)\/\d+/.exec(userAgent)?.[0] ?? "a browser").replace("/", " ").replace("Chrome", "Chromium");

/** Digits behind which there is only noise. @param {string} _key @param {unknown} value */
const shorten = (_key, value) => (typeof value === "number" ? Number(value.toPrecision(5)) : value);
