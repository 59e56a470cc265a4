// Commits for ever, until it is killed. Each acknowledgement is in the pipe before the next commit of that Execution.
//
//   committer.js {file, kind: "sync" | "async", durability, inFlight, payloadBytes}
import { writeSync } from "node:fs";
import { AsyncSqliteStore, newExecution, SqliteStore } from "perdure";
import { nextCommit } from "../books.js";

const { file, kind, durability, inFlight, payloadBytes } = JSON.parse(process.argv[2] ?? "");
const Store = kind === "sync" ? SqliteStore : AsyncSqliteStore;
const store = await Store.create(file, { durability, traceMax: null });
await Promise.all(Array.from({ length: inFlight }, (_, lane) => commitForEver(`lane-${lane}`)));

/** @param {string} id */
async function commitForEver(id) {
  const exe = (await store.load(id)) ?? newExecution({ id, definition_id: "lane" });
  for (;;) {
    await store.commit(exe, nextCommit(exe, payloadBytes));
    writeSync(1, `${id} ${exe.version}\n`);
  }
}
