// Runs the unit tests and the tests in browsers as one: `node e2e/all.js unit chromium firefox webkit` runs what is named.
// Ends in one line, "N passed, N failed, N skipped", over all of them, and fails when anything did: a test, a runner that
// crashed, a browser that is not here and cannot be installed.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ENGINES, missing } from "./browser/find.js";
import { COUNTS_FILE, lineOf } from "./closing.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

/** Runs a program to its end. @param {string} program @param {readonly string[]} args @param {object} env */
function run(program, args, env = {}) {
  const child = spawn(program, args, { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...env } });
  return new Promise((/** @type {(fine: boolean) => void} */ resolve) => {
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}

/** Runs a test runner; one that ends badly and counts no failure counts as one. @param {readonly string[]} command */
async function counted(...command) {
  const folder = mkdtempSync(join(tmpdir(), "perdure-counts-"));
  const file = join(folder, "counts.json");
  const fine = await run(process.execPath, command, { [COUNTS_FILE]: file });
  let counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    counts = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    say(`${command.join(" ")} ended without counting`);
    counts.failed = 1;
  }
  rmSync(folder, { recursive: true });
  return fine ? counts : { ...counts, failed: Math.max(counts.failed, 1) };
}

/** Makes sure that an engine is here. @param {keyof typeof ENGINES} name */
async function ready(name) {
  if (ENGINES[name].find() !== null) return true;
  if (name !== "webkit") {
    say(`no ${name} is installed here; Playwright downloads its own: npx playwright install ${name}`);
    await run(process.execPath, ["node_modules/playwright/cli.js", "install", name]);
    if (ENGINES[name].find() !== null) return true;
  }
  say(missing(name));
  return false;
}

const total = { passed: 0, failed: 0, skipped: 0 };
const add = (/** @type {typeof total} */ { passed, failed, skipped }) => {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => name !== "unit" && !Object.hasOwn(ENGINES, name));
if (unknown.length > 0 || asked.length === 0) {
  say(`cannot run "${asked.join(" ")}"; there are unit, ${Object.keys(ENGINES).join(", ")}`);
  add({ passed: 0, failed: 1, skipped: 0 });
}
const engines = /** @type {(keyof typeof ENGINES)[]} */ (asked.filter((name) => Object.hasOwn(ENGINES, name)));
if (asked.includes("unit")) add(await counted("node_modules/vitest/vitest.mjs", "run"));
// A run over several engines is the thorough one.
if (engines.length > 1) process.env["PERDURE_KILL_ROUNDS"] ??= "20";
const here = [];
for (const name of engines) {
  if (await ready(name)) here.push(name);
  else add({ passed: 0, failed: 1, skipped: 0 });
}
if (here.length > 0) {
  const projects = here.map((name) => `--project=${name}`);
  add(await counted("node_modules/@playwright/test/cli.js", "test", "-c", "e2e/browser", ...projects));
}
say(`\n${lineOf(total)}`);
process.exitCode = total.failed === 0 ? 0 : 1;
