// What commits leave to do: children to start, messages to deliver, timers to fire. A relay takes a row away only after
// its effect is durable, so a kill in between means doing it again; and doing it again changes nothing (see steps.js).
import { newEvent } from "perdure";
import { now } from "./steps.js";

/**
 * @param {import("perdure").SqliteStore} store
 * @param {ReturnType<typeof import("./steps.js").stepsOf>} steps
 * @param {(report: import("./lives.js").Report) => void} report
 */
export function relaysOf(store, steps, report) {
  /** Rows the world has been handed in this life, and has not confirmed yet. @type {Set<number>} */
  const handedOut = new Set();

  /** Starts the children that wait. Returns whether there were any; so do the others. */
  function relaySpawns() {
    const rows = store.pendingSpawns();
    for (const { seq, parent_id, child_id, root_path, context } of rows) {
      steps.start({ id: child_id, rootPath: root_path, context, parentId: parent_id });
      store.ackSpawn(seq);
      report({ type: "acknowledged", queue: "spawns", seq });
    }
    return rows.length > 0;
  }

  /** Delivers to Executions here, and hands the rest to the world, which confirms. */
  function relayOutbox() {
    const rows = store.pendingOutbox().filter(({ seq }) => !handedOut.has(seq));
    for (const { seq, target_id, event } of rows) {
      if (target_id !== null && store.load(target_id) !== null) {
        steps.handle(target_id, event);
        confirm(seq);
      } else {
        handedOut.add(seq);
        report({ type: "message", seq, event });
      }
    }
    return rows.length > 0;
  }

  /** Fires the timers that are due. The same timer always makes the same event. */
  function sweepTimers() {
    const timers = store.dueTimers(now());
    for (const { execution_id, path, fire_at } of timers) {
      steps.handle(execution_id, newEvent({ id: `timer ${path} ${fire_at}`, kind: "timeout", data: { path } }));
      store.deleteTimer(execution_id, path, fire_at);
    }
    return timers.length > 0;
  }

  /** A message was delivered. @param {number} seq */
  function confirm(seq) {
    store.ackOutbox(seq);
    report({ type: "acknowledged", queue: "outbox", seq });
  }

  return {
    confirm,
    /** Until nothing is left to do now. */
    run() {
      while ([relaySpawns(), relayOutbox(), sweepTimers()].includes(true));
    },
  };
}
