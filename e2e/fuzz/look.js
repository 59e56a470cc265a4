// What a store may answer: what its types say, or a typed error. Anything else is a finding.
import { newExecution, PerdureError } from "perdure";

/** @typedef {import("perdure").SqliteStore | import("perdure").AsyncSqliteStore} Store */

/** What a call gave, or the typed error it threw. Throws what is neither. @template T @param {() => T | Promise<T>} call */
export async function answer(call) {
  try {
    return { value: await call(), error: null };
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    return { value: null, error };
  }
}

/** @param {boolean} isTrue @param {string} what */
export function claim(isTrue, what) {
  if (!isTrue) throw new Error(`not so: ${what}`);
}

/** @param {unknown} value */
const isText = (value) => typeof value === "string";
/** @param {unknown} value */
const isTextOrNull = (value) => value === null || isText(value);
/** @param {unknown} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads everything a store shows. @param {Store} store */
export async function readEverything(store) {
  const errors = [];
  /** @type {string | null} */
  let cursor = null;
  const ids = ["exe-1", "'; DROP TABLE executions; --"];
  for (let pages = 0; pages < 50; pages++) {
    const { value, error } = await answer(() => store.listExecutions({ limit: 20, cursor }));
    if (error !== null) errors.push(error);
    if (value === null) break;
    for (const item of value.items) {
      claim(isText(item.id) && isText(item.definition_id) && isText(item.status), "a summary has its texts");
      claim(isTextOrNull(item.outcome) && isTextOrNull(item.active_path), "a summary has text or null");
      claim(typeof item.version === "number", "a summary has its version");
      if (ids.length < 30) ids.push(item.id);
    }
    cursor = value.nextCursor;
    if (cursor === null) break;
  }
  for (const id of ids) {
    const { value: exe, error } = await answer(() => store.load(id));
    if (error !== null) errors.push(error);
    if (exe !== null)
      claim(isText(exe.id) && isObject(exe.context) && Number.isSafeInteger(exe.version), "an Execution");
    const { value: steps } = await answer(() => store.readTrace(id));
    for (const step of steps ?? []) claim(isObject(step) && Number.isSafeInteger(step.index), "a step of the trace");
    await answer(() => store.loadForEvent(id, "event"));
  }
  const outbox = await answer(() => store.pendingOutbox());
  for (const { seq, target_id, event } of outbox.value ?? []) {
    claim(Number.isSafeInteger(seq) && isTextOrNull(target_id) && isText(event.kind), "an outbox row");
  }
  const spawns = await answer(() => store.pendingSpawns());
  for (const { seq, parent_id, child_id, root_path, context } of spawns.value ?? []) {
    claim(Number.isSafeInteger(seq) && isText(parent_id) && isText(child_id) && isText(root_path), "a spawn");
    claim(isObject(context), "a spawn's context");
  }
  const timers = await answer(() => store.dueTimers(Infinity));
  for (const { execution_id, path, fire_at } of timers.value ?? []) {
    claim(isText(execution_id) && isText(path) && typeof fire_at === "number", "a timer");
  }
  for (const { error } of [outbox, spawns, timers]) if (error !== null) errors.push(error);
  for (const status of /** @type {const} */ (["DONE", "FAILED"])) {
    await answer(() => store.listExecutions({ status, definitionId: "order", rootsOnly: true }));
  }
  return errors;
}

/** Writes some of everything. @param {Store} store */
export async function writeSome(store) {
  for (const id of ["exe-1", "new"]) {
    const { value } = await answer(() => store.load(id));
    const exe = value ?? newExecution({ id, definition_id: "order" });
    const emits = [{ event: { kind: "K" } }];
    await answer(() => store.commit(exe, { emits, processedEventId: "e", spawns: [{ child_id: "c" }], trace: {} }));
    await answer(() => store.appendTrace(id, { more: "x".repeat(5000) }));
  }
  for (const seq of [1, 45]) await answer(() => store.ackOutbox(seq));
}
