// A store that does what it is told, one order a line, and answers each: so that a test decides when.
//
//   remote.js {file, kind: "sync" | "async"}     orders: "commit BYTES", "close"
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { AsyncSqliteStore, newExecution, PerdureError, SqliteStore } from "perdure";
import { nextCommit } from "../books.js";

const { file, kind } = JSON.parse(process.argv[2] ?? "");
const Store = kind === "sync" ? SqliteStore : AsyncSqliteStore;
const store = await Store.create(file, { traceMax: null });
const exe = newExecution({ id: "remote", definition_id: "remote" });
const answer = (/** @type {object} */ what) => writeSync(1, `${JSON.stringify(what)}\n`);
answer({ ready: true });

for await (const order of createInterface({ input: process.stdin })) {
  const [verb, bytes] = order.split(" ");
  if (verb === "close") break;
  try {
    await store.commit(exe, nextCommit(exe, Number(bytes)));
    answer({ version: exe.version, stored: (await store.load(exe.id))?.version });
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    answer({ code: error.code, version: exe.version, stored: (await store.load(exe.id))?.version ?? 0 });
  }
}
await store.close();
