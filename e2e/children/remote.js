// A store that does what it is told, one order a line, and answers each: so that a test decides when.
//
//   remote.js {…options of openStore}     orders: "commit BYTES", "close"
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { newExecution, PerdureError } from "perdure";
import { nextCommit } from "../books.js";
import { openStore } from "../open.js";

const store = await openStore(JSON.parse(process.argv[2] ?? ""));
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
