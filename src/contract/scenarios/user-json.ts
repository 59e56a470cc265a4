// The user's JSON in every place a record has for it: untouched, or refused with the path and without the value.
import { RecordInvalid } from "../../errors.ts";
import type { JsonObject } from "../../records/json.ts";
import type { Effects } from "../../store/prepared.ts";
import { equal, fails, ok, sameText } from "../check.ts";
import { REFUSED, UNTOUCHED } from "../json-cases.ts";
import { everything, observe, order } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";
import type { Store } from "../stage.ts";

const event = (data: JsonObject) => ({ id: "e", kind: "K", created_time: null, received_time: null, data });
const child = (result: JsonObject) => ({
  root_path: "R",
  finished: true,
  outcome: null,
  result,
  submachine: false,
  key: "",
});

/** Where the user's JSON may stand: how it is written, how it is read back, and its path in a complaint. */
interface Spot {
  readonly name: string;
  readonly path: readonly (string | number)[];
  write(store: Store, id: string, json: JsonObject): unknown;
  read(store: Store, id: string): Promise<unknown>;
}

const commit = (store: Store, id: string, effects: Effects): unknown =>
  store.commit(order(id), { ...everything(id), ...effects });

const SPOTS: readonly Spot[] = [
  {
    name: "context",
    path: ["context"],
    write: (store, id, context) => store.save({ ...order(id), context }),
    read: async (store, id) => (await store.load(id))?.context,
  },
  {
    name: "history",
    path: ["history"],
    write: (store, id, history) => store.save({ ...order(id), history }),
    read: async (store, id) => (await store.load(id))?.history,
  },
  {
    name: "a deferred event's data",
    path: ["deferred", 1, "data"],
    write: (store, id, data) => store.save({ ...order(id), deferred: [event({}), event(data)] }),
    read: async (store, id) => (await store.load(id))?.deferred[1]?.data,
  },
  {
    name: "a child's result",
    path: ["children", "c", "result"],
    write: (store, id, result) => store.save({ ...order(id), children: { b: child({}), c: child(result) } }),
    read: async (store, id) => (await store.load(id))?.children["c"]?.result,
  },
  {
    name: "an emitted event's data",
    path: ["emits", 1, "event", "data"],
    write: (store, id, data) => commit(store, id, { emits: [{ event: event({}) }, { event: event(data) }] }),
    read: async (store) => (await store.pendingOutbox()).at(-1)?.event.data,
  },
  {
    name: "a spawn's context",
    path: ["spawns", 0, "context"],
    write: (store, id, context) => commit(store, id, { spawns: [{ child_id: "c", context }] }),
    read: async (store) => (await store.pendingSpawns()).at(-1)?.context,
  },
  {
    name: "a commit's trace step",
    path: ["trace"],
    write: (store, id, trace) => commit(store, id, { trace }),
    read: async (store, id) => withoutIndex((await store.readTrace(id))[0]),
  },
  {
    name: "an appended trace step",
    path: ["entry"],
    write: (store, id, entry) => store.appendTrace(id, entry),
    read: async (store, id) => withoutIndex((await store.readTrace(id))[0]),
  },
];

/** The entry without the column's index, which is put last. */
function withoutIndex(entry: JsonObject | undefined): JsonObject | undefined {
  delete entry?.["index"];
  return entry;
}

export const userJson: Chapter = {
  title: "the user's JSON",
  scenarios: SPOTS.flatMap(({ name, path, write, read }) => [
    scenario(`L7 ${name} comes back untouched`, async ({ open }) => {
      const store = await open();
      for (const [i, text] of UNTOUCHED.entries()) {
        const value = JSON.parse(text) as JsonObject;
        await write(store, `${i}`, value);
        sameText(await read(store, `${i}`), JSON.parse(text), text);
        sameText(value, JSON.parse(text), "the caller's own");
      }
    }),

    scenario(`L1 ${name} that JSON cannot carry is refused by its path, and nothing is written`, async ({ open }) => {
      const store = await open();
      await store.save(order("before"));
      const before = await observe(store, ["a"]);
      for (const { name: kind, path: inside, make } of REFUSED) {
        const json = { fine: "secret-4711", bad: make() } as unknown as JsonObject;
        const expected = { code: "record-invalid", path: [...path, "bad", ...inside] };
        const error = await fails(RecordInvalid, expected, () => write(store, "a", json), kind);
        ok(!error.message.includes("4711"), `the message tells no value: ${error.message}`);
      }
      equal(await observe(store, ["a"]), before);
      equal(await store.isProcessed("a", "handled-a"), false);
    }),

    scenario(`L1 ${name} that is no plain object is refused`, async ({ open }) => {
      const store = await open();
      for (const wrong of ["secret-4711", 4711, true, [4711], new Date(4711), new Map(), () => 4711]) {
        const error = await fails(RecordInvalid, { path }, () => write(store, "a", wrong as unknown as JsonObject));
        ok(!error.message.includes("4711"), `the message tells no value: ${error.message}`);
      }
      equal(await store.load("a"), null);
    }),
  ]),
};
