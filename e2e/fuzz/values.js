// Cases of hostile arguments: records, effects, options and cursors of any shape, given to a store that is sound and must
// stay so.
import { newEvent, newExecution, SqliteStore } from "perdure";
import { answer, claim } from "./look.js";

/** @typedef {import("./chance.js").Chance} Chance */

const TEXTS = [
  ...["", "a", "__proto__", "constructor", "prototype", "toString", "then", "\0", "a\0b", "\ud800", "ü€😀", "\u2028"],
  ...[
    "'; DROP TABLE executions; --",
    `" OR ""="`,
    "?1",
    ":id",
    "$.x",
    "%_",
    "\\",
    "x".repeat(70_000),
    "0",
    "-1",
    "1e400",
  ],
  ...["9007199254740993", "NaN", "null", '{"a":1}', "RUNNING", "schedule", "cancel"],
];
const KEYS = ["id", "definition_id", "status", "context", "version", "deferred", "children", "invoke_seq", "priority"];
KEYS.push("history", "outcome", "root_path", "kind", "data", "target_id", "event", "op", "path", "fire_at", "child_id");
const LETTERS = ["A", "b", "0", "+", "/", "=", "_", " ", "ü"];
const THROWN = new Error("thrown by the record itself");

/** Any value at all. @param {Chance} chance @param {number} depth @returns {unknown} */
function anyValue(chance, depth = 0) {
  const make = [
    () => chance.pick(TEXTS),
    () => chance.pick([0, -0, 1, -1, 0.5, 2 ** 53, -(2 ** 53) - 2, 1e300, NaN, Infinity, chance.number()]),
    () => chance.pick([null, undefined, true, false]),
    () => chance.pick([10n, Symbol("s"), () => 1, new Date(0), new Date(NaN), /x/, new Map([[1, 2]]), new Set([1])]),
    () =>
      chance.pick([new Uint8Array(4), new ArrayBuffer(4), Object(1), Object("x"), new Error("e"), Promise.resolve()]),
  ];
  if (depth < 5) {
    make.push(() => Array.from({ length: chance.below(4) }, () => anyValue(chance, depth + 1)));
    make.push(
      () => anyObject(chance, depth),
      () => anyObject(chance, depth),
      () => anyObject(chance, depth),
    );
    make.push(() => anyOddity(chance));
  }
  return chance.pick(make)();
}

/** @param {Chance} chance @param {number} depth */
function anyObject(chance, depth = 0) {
  const object = chance.maybe(0.1) ? Object.create(null) : {};
  for (let left = chance.below(5); left > 0; left--) {
    const key = chance.maybe(0.6) ? chance.pick(KEYS) : chance.pick(TEXTS);
    const value = anyValue(chance, depth + 1);
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return object;
}

/** @param {Chance} chance @returns {unknown} */
function anyOddity(chance) {
  switch (chance.below(9)) {
    case 0: {
      /** @type {unknown[]} */
      const cycle = [];
      cycle.push({ cycle });
      return cycle;
    }
    case 1: {
      let deep = {};
      for (let i = 0; i < chance.pick([890, 905, 20_000]); i++) deep = { deep };
      return deep;
    }
    case 2:
      return Object.defineProperty({}, chance.pick(KEYS), {
        enumerable: true,
        get() {
          throw THROWN;
        },
      });
    case 3:
      return new Proxy({}, { ownKeys: () => ["a", "__proto__"], getOwnPropertyDescriptor: () => undefined });
    case 4:
      return Object.freeze({ id: "frozen", definition_id: "d", version: 0 });
    case 5:
      return Object.assign(chance.pick([{}, [], [1]]), { [chance.pick([Symbol("s"), "more", "-1", "01"])]: 1 });
    case 6:
      return Object.defineProperty(chance.pick([{}, [1]]), "toJSON", { value: () => 1 });
    case 7: {
      const holes = [1];
      holes[chance.pick([5, 100_000])] = 2;
      return holes;
    }
    default:
      return { toJSON: () => ({ other: 1 }), ...anyObject(chance, 4) };
  }
}

/** An Execution that is nearly right. @param {Chance} chance */
function nearly(chance) {
  const exe = newExecution({ id: `exe-${chance.below(5)}`, definition_id: "order" });
  const anyKey = () => /** @type {keyof typeof exe} */ (chance.pick(KEYS));
  for (let left = chance.below(3); left > 0; left--) Object.assign(exe, { [anyKey()]: anyValue(chance) });
  if (chance.maybe(0.2)) exe.context = anyObject(chance);
  return exe;
}

/** @param {Chance} chance */
function anyEffects(chance) {
  if (chance.maybe(0.1)) return anyValue(chance);
  /** @type {Record<string, unknown>} */
  const effects = {};
  const some = () => (chance.maybe(0.2) ? anyValue(chance) : [anyObject(chance), anyObject(chance)]);
  if (chance.maybe(0.4)) effects["emits"] = chance.maybe(0.5) ? [{ target_id: "t", event: anyValue(chance) }] : some();
  if (chance.maybe(0.4))
    effects["timers"] = chance.maybe(0.5) ? [{ op: "schedule", path: "p", fire_at: anyValue(chance) }] : some();
  if (chance.maybe(0.4))
    effects["spawns"] = chance.maybe(0.5) ? [{ child_id: "c", context: anyValue(chance) }] : some();
  if (chance.maybe(0.3)) effects["processedEventId"] = anyValue(chance);
  if (chance.maybe(0.4)) effects["trace"] = anyValue(chance);
  if (chance.maybe(0.05)) effects[chance.pick(TEXTS)] = anyValue(chance);
  return effects;
}

/** @param {unknown} value */
const notText = (value) => (typeof value === "string" ? null : value);

/** Typed errors, or what an option itself threw. @param {() => unknown} call */
async function tolerate(call) {
  try {
    return await answer(call);
  } catch (error) {
    // A proxy that breaks its own promises is told so by the language.
    const isTheirs = error === THROWN || (error instanceof TypeError && /proxy|'ownKeys'|trap/i.test(error.message));
    if (!isTheirs) throw error;
    return { value: null, error };
  }
}

/** @param {Chance} chance */
export async function tryRecords(chance) {
  const store = await SqliteStore.create();
  try {
    for (let calls = 0; calls < 12; calls++) {
      const exe = chance.maybe(0.7) ? nearly(chance) : anyValue(chance);
      const any = () => /** @type {never} */ (anyValue(chance));
      const ofRecords = [
        () => store.commit(/** @type {never} */ (exe), /** @type {never} */ (anyEffects(chance))),
        () => store.commit(/** @type {never} */ (exe), /** @type {never} */ (anyEffects(chance))),
        () => store.save(/** @type {never} */ (exe)),
        () => store.appendTrace(any(), any()),
        () => store.load(any()),
        () => store.loadForEvent(any(), any()),
        () => store.ackOutbox(any()),
        () => store.dueTimers(any()),
        () => store.deleteTimer(any(), any(), any()),
        () => store.isProcessed(any(), any()),
        () => newExecution(any()),
        () => newEvent(any()),
      ];
      const ofOptions = [
        () => store.pendingOutbox(any()),
        () => SqliteStore.create(":memory:", any()),
        // Any text is a file's name.
        () => SqliteStore.create(/** @type {never} */ (notText(anyValue(chance)))),
      ];
      const isOfRecords = chance.maybe(0.8);
      const { value } = isOfRecords ? await answer(chance.pick(ofRecords)) : await tolerate(chance.pick(ofOptions));
      if (value instanceof SqliteStore) value.close();
    }
    claim(Object.keys(Object.prototype).length === 0, "no prototype was changed");
    claim(JSON.stringify(store.verify()) === "[]", `what was stored is sound: ${JSON.stringify(store.verify())}`);
    for (const { id } of store.listExecutions({ limit: 1000 }).items)
      claim(store.load(id)?.id === id, "it can be read");
  } finally {
    store.close();
  }
}

/** @type {SqliteStore | null} */
let listed = null;

/** @param {Chance} chance */
export async function tryCursors(chance) {
  if (listed === null) {
    listed = await SqliteStore.create();
    for (let i = 0; i < 30; i++) listed.save(newExecution({ id: `exe-${i}`, definition_id: "order" }));
  }
  const store = listed;
  const real = store.listExecutions({ limit: 7 }).nextCursor ?? "";
  const encode = (/** @type {string | Uint8Array} */ text) => Buffer.from(text).toString("base64");
  for (let calls = 0; calls < 10; calls++) {
    const cursor = chance.pick([
      () => anyValue(chance),
      () => encode(chance.bytes(chance.below(40))),
      () => encode(`k:${chance.pick(TEXTS)}`),
      () => encode(new Uint8Array([0x6b, 0x3a, ...chance.bytes(chance.below(20))])),
      () => encode(`${chance.pick([chance.number(), 1e15, -1, 0.5, "00009", "9".repeat(15)])}`),
      () => real.replaceAll(/./g, (letter) => (chance.maybe(0.2) ? chance.pick(LETTERS) : letter)),
      () => real + chance.pick(TEXTS),
    ])();
    const limit = chance.pick([1, 7, 100, 2 ** 40]);
    const { value: page } = await tolerate(() =>
      store.listExecutions({ limit, cursor: /** @type {never} */ (cursor) }),
    );
    if (page === null) continue;
    const ids = /** @type {import("perdure").Page} */ (page).items.map(({ id }) => id);
    claim(ids.length <= limit && ids.every((id) => id.startsWith("exe-")), "a page has what is there");
    claim(
      ids.every((id, i) => i === 0 || /** @type {string} */ (ids[i - 1]) < id),
      "in the order of ids",
    );
  }
}
