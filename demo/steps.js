// From events to commits: load the Execution, ask the chart, commit what it says together with the event's id. However
// often an event comes, and wherever the process is killed, it counts once.
import { newEvent, newExecution, StoreConflict } from "perdure";
import { begin, react } from "./chart.js";
import { orderChart } from "./order-chart.js";

/** Seconds since the epoch, as timers have them. */
export const now = () => Date.now() / 1000;

/**
 * @param {import("perdure").SqliteStore} store
 * @param {(report: import("./lives.js").Report) => void} report  called when a step is durable, never before
 */
export function stepsOf(store, report) {
  /**
   * Starts an Execution. Its id is known beforehand, so a second start is a conflict, never a second Execution.
   * @param {{ id: string, rootPath: string, context?: import("perdure").JsonObject, parentId?: string | null }} what
   */
  function start({ id, rootPath, context = {}, parentId = null }) {
    const fresh = newExecution({
      id,
      definition_id: "order",
      root_path: rootPath,
      context,
      parent_id: parentId,
      child_id: parentId === null ? null : id,
    });
    const event = newEvent({ id: `start of ${id}`, kind: "start" });
    try {
      commit(fresh, begin(orderChart, fresh, now()), event);
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      report({ type: "step", executionId: id, eventId: event.id, version: null, again: true });
    }
  }

  /** @param {string} id @param {import("perdure").Event} event */
  function handle(id, event) {
    const [exe, alreadyProcessed] = store.loadForEvent(id, event.id);
    if (exe === null) throw new Error(`event ${event.id} is for ${id}, which is not there`);
    if (alreadyProcessed) report({ type: "step", executionId: id, eventId: event.id, version: null, again: true });
    else commit(exe, react(orderChart, exe, event, now()), event);
  }

  /** @param {import("perdure").Execution} before @param {import("./chart.js").Step} step @param {import("perdure").Event} event */
  function commit(before, { exe, emits, timers, spawns, handled }, event) {
    const trace = {
      event: { id: event.id, kind: event.kind },
      from: before.active_path,
      to: exe.active_path,
      handled,
      at: now(),
      emits: emits.map((emit) => ({ to: emit.target_id ?? null, id: emit.event.id ?? "" })),
      timers: timers.map(({ op, path }) => ({ op, path })),
      spawns: spawns.map(({ child_id }) => child_id),
    };
    store.commit(exe, { emits, timers, spawns, trace, processedEventId: event.id });
    report({ type: "step", executionId: exe.id, eventId: event.id, version: exe.version, again: false });
  }

  return { start, handle };
}
