// npm start: an order lives in a process that is killed again and again, and comes through. Then what a Python program
// left in a file is opened and listed. Ends with an error when anything is missing or there twice.
//
//   node demo/main.js [--seed N]     the same seed kills at the same steps
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SqliteStore } from "perdure";
import { audit, readAll } from "./audit.js";
import { listGolden } from "./golden.js";
import { liveUntilDone } from "./lives.js";
import { bold, dim, green, red, say, table, title } from "./print.js";
import { randomFrom } from "./random.js";
import { printTimeline } from "./timeline.js";

const { values } = parseArgs({ options: { seed: { type: "string" } } });
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e6) : Number(values.seed);
if (!Number.isSafeInteger(seed)) throw new Error("--seed takes an integer");
const folder = await mkdtemp(join(tmpdir(), "perdure-demo-"));
try {
  process.exitCode = (await showOrder()) ? 0 : 1;
  await showGolden();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** @returns {Promise<boolean>} whether all is well */
async function showOrder() {
  title("An order in a process that keeps getting killed");
  say(`  ${dim(`seed ${seed}: repeat the kills with  npm start -- --seed ${seed}`)}`);
  const file = join(folder, "order.db");
  const orderId = "order-1";
  const ledger = await liveUntilDone({
    file,
    orderId,
    random: randomFrom(seed),
    onKill: () => process.stdout.write(red("  ✗")),
  });
  say();

  const store = await SqliteStore.create(file, { mustExist: true });
  title("What the file remembers");
  printTimeline(readAll(store).steps, orderId, ledger);
  title("Its Executions");
  printSummaries(store.listExecutions().items);
  title(`What had to be there after ${ledger.kills.length} kills`);
  const checks = audit(store, orderId, ledger);
  store.close();
  for (const { says, problems } of checks) {
    say(problems.length === 0 ? `  ${green("✓")} ${says}` : `  ${red("✗")} ${bold(says)}`);
    for (const problem of problems) say(`      ${red(problem)}`);
  }
  const wrong = checks.flatMap(({ problems }) => problems).length;
  if (wrong > 0) console.error(`\n${wrong} things are missing or doubled after the kills of seed ${seed}.`);
  return wrong === 0;
}

async function showGolden() {
  const summaries = await listGolden(folder);
  title(`A file of the Python original, all of it still in its write-ahead log: ${summaries.length} Executions`);
  printSummaries(summaries);
  say();
}

/** @param {import("perdure").ExecutionSummary[]} summaries */
function printSummaries(summaries) {
  table(
    ["id", "definition", "status", "outcome", "active path", "version", "parent"],
    summaries.map((one) => [
      one.id,
      one.definition_id,
      one.status,
      one.outcome ?? "",
      one.active_path ?? "",
      String(one.version),
      one.parent_id ?? "",
    ]),
  );
}
