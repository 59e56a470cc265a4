// A store's life on a new file: open, commits with a checkpoint among them, close. Made to be run under faults: what
// fails is looked at (is it undone?) and tried again, since the store must go on when the fault is over.
//
//   scenario.js {lanes, rounds, attempts, …options of openStore}
import { writeSync } from "node:fs";
import { newExecution, PerdureError } from "perdure";
import { nextCommit } from "../books.js";
import { openStore } from "../open.js";

/** So large that some ten commits fill the log. */
const PAYLOAD_BYTES = 100_000;

const { lanes, rounds, attempts, ...options } = JSON.parse(process.argv[2] ?? "");
/** @param {import("../faults.js").Said} said */
const say = (said) => writeSync(1, `${JSON.stringify(said)}\n`);

const store = await trying(
  () => openStore(options),
  () => {},
);
const executions = Array.from({ length: lanes }, (_, lane) =>
  newExecution({ id: `lane-${lane}`, definition_id: "lane" }),
);
for (let round = 0; round < rounds; round++) {
  await Promise.all(executions.map((exe) => commit(exe)));
}
await trying(
  () => store.close(),
  () => {},
);
say({ type: "end" });

/** @param {import("perdure").Execution} exe */
async function commit(exe) {
  const { id, version } = exe;
  await trying(
    () => store.commit(exe, nextCommit(exe, PAYLOAD_BYTES)),
    async () => {
      const stored = (await store.load(id))?.version ?? 0;
      const marked = await store.isProcessed(id, `event ${version + 1}`);
      const undone = exe.version === version && stored === version && !marked;
      if (!undone)
        say({ type: "broken", text: `${id}: ${version} → ${exe.version} in hand, ${stored} stored, marked ${marked}` });
    },
  );
  say({ type: "acknowledged", id, version: exe.version });
}

/**
 * @template T
 * @param {() => T | Promise<T>} work @param {() => void | Promise<void>} look  after each failure @returns {Promise<T>}
 */
async function trying(work, look) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PerdureError)) say({ type: "broken", text: `not a typed error: ${String(error)}` });
      else say({ type: "rejected", code: error.code, message: error.message });
      await look();
      if (attempt === attempts) {
        say({ type: "gave up" });
        process.exit(0);
      }
    }
  }
}
