// The process that gets killed. It holds nothing but what the store gives back: when it starts, it goes on where the
// file says it was. What it reports to its parent, it reports only AFTER the commit returned.
//
//   worker.js FILE ORDER   (started by lives.js, speaks over the IPC channel)
import { newEvent, SqliteStore } from "perdure";
import { relaysOf } from "./relays.js";
import { now, stepsOf } from "./steps.js";

const [file = "", orderId = ""] = process.argv.slice(2);
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** @param {import("./lives.js").Report} message */
const report = (message) => process.send?.(message);
const store = await SqliteStore.create(file);
const steps = stepsOf(store, report);
const relays = relaysOf(store, steps, report);
/** @type {NodeJS.Timeout | undefined} */
let alarm;

/** Does what is left to do, and then waits for the next message or the next timer. */
function goOn() {
  relays.run();
  clearTimeout(alarm);
  const [next] = store.dueTimers(Number.MAX_VALUE);
  if (next !== undefined)
    alarm = setTimeout(goOn, Math.min(Math.max(1, (next.fire_at - now()) * 1000), LONGEST_TIMEOUT_MS));
  const allDone = store.load(orderId)?.status === "DONE" && store.pendingOutbox({ limit: 1 }).length === 0;
  if (!allDone) return;
  clearTimeout(alarm);
  store.close();
  report({ type: "done" });
  process.disconnect();
}

process.on("message", (/** @type {import("./lives.js").Instruction} */ message) => {
  if (message.type === "event") steps.handle(message.to, newEvent(message.event));
  else relays.confirm(message.seq);
  goOn();
});
if (store.load(orderId) === null) steps.start({ id: orderId, rootPath: "Order" });
report({ type: "ready" });
goOn();
