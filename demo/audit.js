// Compares what the file holds with what was acknowledged while the worker lived and died. Each check says what was
// looked at, and what is wrong: nothing may be missing, nothing may be there twice.
import { AMOUNT, ITEMS } from "./world.js";

/**
 * A row of a trace, as steps.js writes it, and whose it is.
 * @typedef {object} TracedStep
 * @property {string} id
 * @property {number} index
 * @property {{ id: string, kind: string }} event
 * @property {string | null} from
 * @property {string | null} to
 * @property {number} at
 * @property {{ to: string | null, id: string }[]} emits
 * @property {{ op: string, path: string }[]} timers
 * @property {string[]} spawns
 *
 * @typedef {{ executions: Map<string, import("perdure").Execution>, steps: TracedStep[] }} Found
 * @typedef {{ says: string, problems: string[] }} Check
 */

/** All Executions of a file, and all their steps in the order of time. */
/** @param {import("perdure").SqliteStore} store @returns {Found} */
export function readAll(store) {
  const executions = new Map(store.listExecutions().items.map(({ id }) => [id, present(store.load(id))]));
  const steps = [...executions.keys()].flatMap((id) =>
    store.readTrace(id).map((entry) => /** @type {TracedStep} */ (/** @type {unknown} */ ({ ...entry, id }))),
  );
  return { executions, steps: steps.sort((a, b) => a.at - b.at || a.index - b.index) };
}

/**
 * @param {import("perdure").SqliteStore} store
 * @param {string} orderId
 * @param {import("./lives.js").Ledger} ledger
 * @returns {Check[]}
 */
export function audit(store, orderId, ledger) {
  const { executions, steps } = readAll(store);
  const emits = steps.flatMap((step) => step.emits);
  const spawns = steps.flatMap((step) => step.spawns);
  const timersSet = steps.flatMap((step) => step.timers).filter(({ op }) => op === "schedule");
  const fired = steps.filter(({ event }) => event.kind === "timeout");
  const acknowledged = new Map(ledger.steps.map((step) => [`${step.executionId} ${step.eventId}`, step]));

  /** How often an event is in the trace of an Execution. @param {string} id @param {string} eventId */
  const times = (id, eventId) => steps.filter((step) => step.id === id && step.event.id === eventId).length;
  /** @param {string} id */
  const stepsOf = (id) => steps.filter((step) => step.id === id).length;

  return [
    {
      says: `${acknowledged.size} acknowledged steps, each in its trace exactly once and where it was acknowledged`,
      problems: [
        ...[...acknowledged.values()].flatMap((one) => same(one.eventId, times(one.executionId, one.eventId), 1)),
        ...ledger.steps.flatMap(({ executionId, eventId, version }) => {
          const step = steps.find(({ id, event }) => id === executionId && event.id === eventId);
          return version === null ? [] : same(`version of ${eventId}`, (step?.index ?? Number.NaN) + 1, version);
        }),
      ],
    },
    {
      says: `${steps.length} steps in all, one version and one dedupe marker each`,
      problems: [
        ...[...executions.values()].flatMap(({ id, version }) => same(`version of ${id}`, version, stepsOf(id))),
        ...steps.flatMap(({ id, event }) => same(event.id, times(id, event.id), 1)),
        ...steps.flatMap(({ id, event }) => same(`marker of ${event.id}`, store.isProcessed(id, event.id), true)),
      ],
    },
    {
      says: `${emits.length} messages through the outbox, each delivered and counted once`,
      problems: [
        ...emits.flatMap(({ to, id }) =>
          to !== null && executions.has(to) ? same(id, times(to, id), 1) : same(id, ledger.heard.has(id), true),
        ),
        ...store.pendingOutbox().map(({ event }) => `${event.id}: still in the outbox`),
        ...ledger.cameBack.map((row) => `${row}: there again after it was acknowledged`),
      ],
    },
    {
      says: `${spawns.length} children spawned, each started once`,
      problems: [
        ...spawns.flatMap((id) => same(`start of ${id}`, times(id, `start of ${id}`), 1)),
        ...same("Executions", executions.size, 1 + spawns.length),
        ...store.pendingSpawns().map(({ child_id }) => `${child_id}: still waits to be started`),
      ],
    },
    {
      says: `${timersSet.length} timers set, one fired, one cancelled, none left`,
      problems: [
        ...same("timers set", timersSet.length, 2),
        ...same("timers fired", fired.length, 1),
        ...store.dueTimers(Number.MAX_VALUE).map(({ path }) => `${path}: still set`),
      ],
    },
    {
      says: `${ITEMS.length} items bought and picked, ${AMOUNT} paid, everything done`,
      problems: [
        ...same("bought", executions.get(orderId)?.context["items"], ITEMS),
        ...same("picked", executions.get(`${orderId}:Order.Fulfil.Pack:1`)?.context["picked"], ITEMS),
        ...same("paid", executions.get(orderId)?.context["paid"], AMOUNT),
        ...[...executions.values()].flatMap(({ id, status }) => same(`status of ${id}`, status, "DONE")),
      ],
    },
  ];
}

/** A problem, unless it is as it should be. @param {string} what @param {unknown} is @param {unknown} shouldBe */
function same(what, is, shouldBe) {
  const [found, wanted] = [JSON.stringify(is), JSON.stringify(shouldBe)];
  return found === wanted ? [] : [`${what}: ${found} instead of ${wanted}`];
}

/** @template T @param {T | null} value @returns {T} */
function present(value) {
  if (value === null) throw new Error("an Execution is listed and cannot be loaded");
  return value;
}
