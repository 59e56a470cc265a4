// The seed's commit as a list of statements and what is bound to them, for peers whose calls wait as well as for those
// whose calls do not; and the database they start from, through the same kind of calls.
import * as peer from "../../peer-sql.js";
import { executionId, fireAtOf, makeExecution, NOW, TIMER_PATH } from "../../workload.js";

/** @typedef {(string | number | null)[]} Values */

/** What a commit runs, by name. */
export const STATEMENTS = Object.freeze({
  begin: "BEGIN IMMEDIATE",
  update: peer.UPDATE,
  emit: peer.EMIT,
  mark: peer.MARK,
  schedule: peer.SCHEDULE,
  trace: peer.TRACE,
  trim: peer.TRIM_TRACE,
  commit: "COMMIT",
});
/** @typedef {keyof typeof STATEMENTS} StatementName */

/** @type {Values} */
const NOTHING = [];

/**
 * Bumps the version, as the library does.
 *
 * @param {import("../../workload.js").Commit} commit
 * @returns {[StatementName, Values][]} `update` must change one row
 */
export function stepsOf({ execution, effects }) {
  const { id, version } = execution;
  execution.version = version + 1;
  /** @type {[StatementName, Values][]} */
  const steps = [
    ["begin", NOTHING],
    ["update", [JSON.stringify(execution), version + 1, id, version]],
  ];
  for (const { target_id = null, event } of effects.emits ?? []) {
    steps.push(["emit", [target_id, JSON.stringify(event)]]);
  }
  steps.push(["mark", [id, /** @type {string} */ (effects.processedEventId)]]);
  for (const timer of effects.timers ?? []) {
    if (timer.op === "schedule") steps.push(["schedule", [id, timer.path, timer.fire_at]]);
  }
  steps.push(
    ["trace", [id, id, JSON.stringify(effects.trace)]],
    ["trim", [id, id, peer.TRACE_MAX]],
    ["commit", NOTHING],
  );
  return steps;
}

/** Rows that one transaction of `rowsOf` makes. */
export const FILL_ROWS = 4000;

/**
 * The rows of Execution `index` in a new database: the ones that bench/databases.js makes.
 *
 * @param {number} index
 * @param {number} rows
 * @returns {[keyof typeof FILL_STATEMENTS, Values][]}
 */
export function rowsOf(index, rows) {
  const id = executionId(index);
  const event = executionId(index + rows);
  return [
    ["insert", [id, "order", JSON.stringify(makeExecution(index, 1, id)), 1]],
    ["mark", [id, event]],
    ["schedule", [id, TIMER_PATH, fireAtOf(index)]],
    ["trace", [id, id, JSON.stringify({ event, kind: "order.placed", from: null, to: "order/payment", at: NOW })]],
  ];
}

export const FILL_STATEMENTS = Object.freeze({
  insert: peer.INSERT,
  mark: peer.MARK,
  schedule: peer.SCHEDULE,
  trace: peer.TRACE,
});
