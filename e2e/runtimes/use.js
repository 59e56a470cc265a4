// Uses the built package as an app would, and says "ok". Arguments: a place, ":memory:" or a path. Runs under Node, Deno
// and Bun; under Deno with no permission at all for memory, and with its folder's alone for a file.
import { AsyncSqliteStore, newEvent, newExecution, SqliteStore, StoreConflict } from "perdure";

const place = process.argv[2] ?? ":memory:";

/** @param {boolean} truth @param {string} claim */
function check(truth, claim) {
  if (!truth) throw new Error(`not so: ${claim}`);
}

const exe = newExecution({ definition_id: "order", context: { text: "aß€😀" } });
let store = await SqliteStore.create(place);
store.commit(exe, {
  emits: [{ event: newEvent({ kind: "Placed" }) }],
  processedEventId: "event-1",
  timers: [{ op: "schedule", path: "Order.Waiting", fire_at: 10 }],
  spawns: [{ child_id: "payment" }],
  trace: { step: 1 },
});
check(exe.version === 1, "a commit bumps the version");
check(store.isProcessed(exe.id, "event-1"), "the marker is there");
check(store.dueTimers(10).length === 1, "the timer is due");
check(store.readTrace(exe.id)[0]?.index === 0, "the trace begins at 0");
try {
  store.save({ ...exe, version: 0 });
  check(false, "a stale write is refused");
} catch (error) {
  if (!(error instanceof StoreConflict)) throw error;
}
store.close();

if (place !== ":memory:") {
  store = await SqliteStore.create(place, { mustExist: true });
  const found = store.load(exe.id);
  check(JSON.stringify(found?.context) === JSON.stringify(exe.context), "it is there when opened again");
  store.close();
}

const waiting = await AsyncSqliteStore.create(place);
const many = Array.from({ length: 20 }, () => newExecution({ definition_id: "order" }));
await Promise.all(many.map((one) => waiting.save(one)));
const { items } = await waiting.listExecutions({ definitionId: "order" });
check(items.length === (place === ":memory:" ? 20 : 21), "all of them are listed");
await waiting.close();
process.stdout.write("ok\n");
