// Commits to the one Execution that all the others commit to as well, until its own commits are in. A conflict means
// loading again and deciding again. Started anew after a kill, it finds by the dedupe markers where it was.
//
//   contender.js {name, commits, …options of openStore}
import { writeSync } from "node:fs";
import process from "node:process";
import { newExecution, StoreConflict } from "perdure";
import { openStore } from "../open.js";

const { name, commits, ...options } = JSON.parse(process.argv[2] ?? "");
const store = await openStore({ busyTimeoutMs: 60_000, ...options });
let conflicts = 0;
for (let n = 1; n <= commits;) {
  const eventId = `${name} ${n}`;
  const [found, alreadyProcessed] = await store.loadForEvent("shared", eventId);
  const exe = found ?? newExecution({ id: "shared", definition_id: "counter" });
  if (!alreadyProcessed) {
    exe.context = { ...exe.context, [name]: n };
    const emits = [{ target_id: "shared", event: { id: eventId, kind: "counted" } }];
    try {
      await store.commit(exe, { emits, processedEventId: eventId, trace: { eventId, version: exe.version + 1 } });
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      conflicts += 1;
      continue;
    }
  }
  n += 1;
  writeSync(1, `${eventId}\n`);
}
await store.close();
writeSync(1, `done after ${conflicts} conflicts\n`);
