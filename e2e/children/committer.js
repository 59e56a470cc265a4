// Commits for ever, until it is killed. Each acknowledgement is in the pipe before the next commit of that Execution.
//
//   committer.js {inFlight, payloadBytes, saysOpening?, …options of openStore}
import { writeSync } from "node:fs";
import { newExecution } from "perdure";
import { nextCommit } from "../books.js";
import { openStore } from "../open.js";

const { inFlight, payloadBytes, saysOpening = false, ...options } = JSON.parse(process.argv[2] ?? "");
if (saysOpening) writeSync(1, "opening\n");
const store = await openStore(options);
await Promise.all(Array.from({ length: inFlight }, (_, lane) => commitForEver(`lane-${lane}`)));

/** @param {string} id */
async function commitForEver(id) {
  const exe = (await store.load(id)) ?? newExecution({ id, definition_id: "lane" });
  for (;;) {
    await store.commit(exe, nextCommit(exe, payloadBytes));
    writeSync(1, `${id} ${exe.version}\n`);
  }
}
