// A statechart as a table of pure functions, and the two functions that run it. They know no store and no clock: they
// take an Execution and an event, and give back the next Execution and what a commit has to carry along.
//
// Paths are dotted ("Order.Pay.Waiting"). An event goes to the innermost active state that handles it. A region of a
// fork is a child Execution of the same chart, rooted at the region's path; so is an invoked child.

/**
 * @typedef {import("perdure").Execution} Execution
 * @typedef {import("perdure").Event} Event
 * @typedef {import("perdure").JsonObject} JsonObject
 *
 * @typedef {{ to: string, kind: string, data?: JsonObject }} Message  for another party, through the outbox
 * @typedef {{ child_id: string, outcome: string, result: JsonObject }} ChildDone  what a "child_done" event carries
 *
 * @typedef {object} Change  what an event does
 * @property {string} [to]  the state to go to; without it the state stays
 * @property {JsonObject} [context]  keys to set
 *
 * @typedef {object} State
 * @property {string} [initial]  where to go on when this state is entered
 * @property {{ [kind: string]: (exe: Execution, event: Event) => Change }} [on]
 * @property {number} [after]  seconds until a "timeout" event, counted from entering
 * @property {(exe: Execution) => Message[]} [tell]  messages sent on entering
 * @property {(exe: Execution) => { path: string, context: JsonObject }[]} [start]  children started on entering
 * @property {string} [outcome]  a final state: the Execution is done, and its parent is told
 * @property {import("perdure").Status} [status]  what a final state leaves; "DONE" unless it says otherwise
 *
 * @typedef {{ [path: string]: State }} Chart
 *
 * @typedef {object} Step  the next Execution and what to commit with it
 * @property {Execution} exe
 * @property {import("perdure").Emit[]} emits
 * @property {import("perdure").TimerOp[]} timers
 * @property {import("perdure").Spawn[]} spawns
 * @property {boolean} handled  false: no active state waits for this event
 */

/** @param {string} path */
const ancestors = (path) => path.split(".").map((_, i, parts) => parts.slice(0, parts.length - i).join("."));

/**
 * The first step of an Execution: enters its root.
 * @param {Chart} chart @param {Execution} exe @param {number} now @returns {Step}
 */
export function begin(chart, exe, now) {
  /** @type {Step} */
  const step = { exe: structuredClone(exe), emits: [], timers: [], spawns: [], handled: true };
  step.exe.status = "RUNNING";
  enter(chart, step, exe.root_path, now);
  return step;
}

/**
 * One event.
 * @param {Chart} chart @param {Execution} exe @param {Event} event @param {number} now @returns {Step}
 */
export function react(chart, exe, event, now) {
  /** @type {Step} */
  const step = { exe: structuredClone(exe), emits: [], timers: [], spawns: [], handled: false };
  step.exe.processed_events += 1;
  noteFinishedChild(step.exe, event);
  const handler = handlerOf(chart, exe, event.kind);
  if (handler === undefined) return step;
  const { to, context } = handler(step.exe, event);
  step.handled = true;
  Object.assign(step.exe.context, context);
  if (to !== undefined) {
    leave(chart, step, to);
    enter(chart, step, to, now);
  }
  return step;
}

/**
 * What the innermost active state that waits for an event does with it; undefined when none does.
 * @param {Chart} chart @param {Execution} exe @param {string} kind
 */
export function handlerOf(chart, exe, kind) {
  const state = ancestors(exe.active_path ?? "").find((path) => chart[path]?.on?.[kind] !== undefined);
  return state === undefined ? undefined : chart[state]?.on?.[kind];
}

/** @param {Chart} chart @param {Step} step @param {string} to */
function leave(chart, step, to) {
  for (const path of ancestors(step.exe.active_path ?? "")) {
    if (!ancestors(to).includes(path) && chart[path]?.after !== undefined) step.timers.push({ op: "cancel", path });
  }
}

/** @param {Chart} chart @param {Step} step @param {string} to @param {number} now */
function enter(chart, step, to, now) {
  const { exe } = step;
  /** @type {string | undefined} */
  let path = to;
  while (path !== undefined) {
    /** @type {State | undefined} */
    const state = chart[path];
    if (state === undefined) throw new Error(`the chart has no state ${path}`);
    exe.active_path = path;
    if (state.after !== undefined) step.timers.push({ op: "schedule", path, fire_at: now + state.after });
    for (const { to: target, kind, data } of state.tell?.(exe) ?? []) emit(step, target, kind, data);
    for (const child of state.start?.(exe) ?? []) spawn(step, child.path, child.context);
    if (state.outcome !== undefined) finish(step, state.outcome, state.status ?? "DONE");
    path = state.initial;
  }
}

/** @param {Step} step @param {string} path @param {JsonObject} context */
function spawn({ exe, spawns }, path, context) {
  const count = (exe.invoke_seq[path] ?? 0) + 1;
  const id = `${exe.id}:${path}:${count}`;
  exe.invoke_seq[path] = count;
  exe.children[id] = { root_path: path, finished: false, outcome: null, result: {}, submachine: false, key: "" };
  spawns.push({ child_id: id, root_path: path, context });
}

/** @param {Step} step @param {string} outcome @param {import("perdure").Status} status */
function finish(step, outcome, status) {
  const { exe } = step;
  Object.assign(exe, { status, outcome });
  if (exe.parent_id === null) return;
  emit(step, exe.parent_id, "child_done", { child_id: exe.child_id, outcome, result: exe.context });
}

/** @param {Execution} exe @param {Event} event */
function noteFinishedChild(exe, { kind, data }) {
  if (kind !== "child_done") return;
  const { child_id, outcome, result } = /** @type {ChildDone} */ (data);
  const child = exe.children[child_id];
  if (child !== undefined) Object.assign(child, { finished: true, outcome, result });
}

/**
 * An event's id says which step made it, so the same step always makes the same event.
 * @param {Step} step @param {string} target @param {string} kind @param {JsonObject} [data]
 */
function emit({ exe, emits }, target, kind, data = {}) {
  emits.push({ target_id: target, event: { id: `${exe.id}@${exe.version + 1}.${emits.length}`, kind, data } });
}
