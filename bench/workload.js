// The one workload: Executions of about 1 KB and the commit that every contender makes. Everything follows from an
// index and a seed, so that each process makes the same data by itself and nothing has to be kept in memory.

/** @typedef {import("../src/records/structs.ts").Execution} Execution */
/** @typedef {import("../src/store/prepared.ts").Effects} Effects */
/** @typedef {{ readonly execution: Execution, readonly effects: Effects }} Commit */

/** Seconds since the epoch. Timers are set after it, but for the few that are due. */
export const NOW = 1_800_000_000;
/** What brings a document to 1 KB. */
const NOTE = "n".repeat(384);
/** One Execution in so many is suspended: what the listing looks for. */
const SUSPENDED_EVERY = 100;
/** One timer in so many is due. */
const DUE_EVERY = 2500;
export const TIMER_PATH = "order/payment";

/**
 * Mulberry32: small, fast, the same everywhere.
 *
 * @param {number} seed
 * @returns {() => number} from 0 up to 1
 */
export function makeRandom(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param {() => number} random @returns 32 hexadecimal digits */
function hexId(random) {
  let id = "";
  for (let i = 0; i < 4; i++)
    id += Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return id;
}

/** The id of Execution `index`: as scattered as random ones. @param {number} index */
export function executionId(index) {
  return hexId(makeRandom(index + 1));
}

/** @param {number} index */
export function statusOf(index) {
  return index % SUSPENDED_EVERY === 7 ? "SUSPENDED" : "RUNNING";
}

/** @param {number} index */
export function fireAtOf(index) {
  return index % DUE_EVERY === 11 ? NOW - 1 - index : NOW + 60 + (index % 3600);
}

/**
 * Execution `index` as a program holds it that loaded `version`.
 *
 * @param {number} index
 * @param {number} version
 * @param {string} [id] when it is known already
 * @returns {Execution}
 */
export function makeExecution(index, version, id = executionId(index)) {
  /** @type {Execution} */
  const execution = {
    id,
    definition_id: "order",
    definition_fqn: "shop.order:Order",
    root_path: "order",
    status: statusOf(index),
    outcome: null,
    error: null,
    active_path: version % 2 === 0 ? "order/payment" : "order/packing",
    history: { "order/fulfilment": "order/fulfilment/packing" },
    context: {
      customer: { name: "Ada Lovelace", city: "London", since: 1833 },
      items: [
        { sku: "A-1001", title: "Difference engine", count: 1, price: 4200.5 },
        { sku: "B-2002", title: "Punched cards", count: 12 + (index % 80), price: 0.25 },
      ],
      attempts: version % 10,
      note: NOTE,
    },
    processed_events: version,
    version,
    priority: 2,
    parent_id: null,
    child_id: null,
    deferred: [],
    children: {},
    invoke_seq: { "order/payment": 1 },
  };
  return execution;
}

/**
 * What comes with every commit: one event out, one marker, one timer, one trace step.
 *
 * @param {number} index
 * @param {() => number} random
 * @returns {Effects}
 */
export function makeEffects(index, random) {
  const eventId = hexId(random);
  return {
    emits: [
      {
        target_id: executionId(index + 1),
        event: {
          id: hexId(random),
          kind: "order.changed",
          created_time: "2026-07-01T12:00:00Z",
          received_time: null,
          data: {},
        },
      },
    ],
    processedEventId: eventId,
    timers: [{ op: "schedule", path: TIMER_PATH, fire_at: NOW + 60 + Math.floor(random() * 3600) }],
    trace: { event: eventId, kind: "payment.received", from: "order/payment", to: "order/packing", at: NOW },
  };
}

/**
 * Commits on random Executions, ready to be run in order. With several lanes, lane `l` takes every `lanes`-th commit
 * from `l` on, and Executions of its own: lanes never conflict.
 *
 * @param {number} count
 * @param {number} lanes
 * @param {Uint32Array} versions of all Executions; bumped here, since every commit must succeed
 * @param {() => number} random
 * @returns {Commit[]}
 */
export function makeCommits(count, lanes, versions, random) {
  const commits = [];
  for (let i = 0; i < count; i++) {
    const index = Math.floor((random() * versions.length) / lanes) * lanes + (i % lanes);
    const mine = index < versions.length ? index : i % lanes;
    const version = /** @type {number} */ (versions[mine]);
    versions[mine] = version + 1;
    commits.push({ execution: makeExecution(mine, version), effects: makeEffects(mine, random) });
  }
  return commits;
}
