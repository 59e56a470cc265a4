// Records: defaults for what is missing, refusals for what is wrong, and stored text that cannot be read without loss.
import { RecordInvalid } from "../../errors.ts";
import type { JsonObject } from "../../records/json.ts";
import type { Execution } from "../../records/structs.ts";
import type { Effects } from "../../store/prepared.ts";
import { equal, fails, ok, sameText } from "../check.ts";
import { everything, observe, order, withKeys } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";

const EVENT = { id: "e", kind: "K", created_time: null, received_time: null, data: {} };
const CHILD = { root_path: "R", finished: false, outcome: null, result: {}, submachine: false, key: "" };

/** A field with a value it cannot have, and the path in the complaint. Values hold 4711, which no message may tell. */
const WRONG_FIELDS: readonly (readonly [object, readonly (string | number)[]])[] = [
  [{ id: 4711 }, ["id"]],
  [{ id: "a\u00004711" }, ["id"]],
  [{ id: "4711\ud800" }, ["id"]],
  [{ definition_id: null }, ["definition_id"]],
  [{ definition_id: undefined }, ["definition_id"]],
  [{ definition_id: "\u00004711" }, ["definition_id"]],
  [{ root_path: "4711\0" }, ["root_path"]],
  [{ parent_id: "4711\0" }, ["parent_id"]],
  [{ child_id: "4711\0" }, ["child_id"]],
  [{ active_path: "4711\0" }, ["active_path"]],
  [{ status: "4711" }, ["status"]],
  [{ status: null }, ["status"]],
  [{ outcome: 4711 }, ["outcome"]],
  [{ outcome: "4711\udc00" }, ["outcome"]],
  [{ error: ["4711"] }, ["error"]],
  [{ processed_events: 4711.5 }, ["processed_events"]],
  [{ processed_events: "4711" }, ["processed_events"]],
  [{ version: 4711.5 }, ["version"]],
  [{ version: -4711 }, ["version"]],
  [{ version: Number.NaN }, ["version"]],
  [{ version: Number.MAX_SAFE_INTEGER }, ["version"]],
  [{ priority: 4711 }, ["priority"]],
  [{ priority: -1 }, ["priority"]],
  [{ deferred: {} }, ["deferred"]],
  [{ deferred: ["4711"] }, ["deferred", 0]],
  [{ deferred: [EVENT, { ...EVENT, kind: undefined }] }, ["deferred", 1, "kind"]],
  [{ deferred: [EVENT, { ...EVENT, kind: "4711\0" }] }, ["deferred", 1, "kind"]],
  [{ deferred: [{ ...EVENT, created_time: 4711 }] }, ["deferred", 0, "created_time"]],
  [{ children: ["4711"] }, ["children"]],
  [{ children: { c: "4711" } }, ["children", "c"]],
  [{ children: { c: {} } }, ["children", "c", "root_path"]],
  [{ children: { c: { ...CHILD, finished: 4711 } } }, ["children", "c", "finished"]],
  [{ invoke_seq: { Fork: 4711.5 } }, ["invoke_seq"]],
  [{ from_the_future: { n: 4711n } }, ["from_the_future", "n"]],
];

const WRONG_EFFECTS: readonly (readonly [unknown, readonly (string | number)[]])[] = [
  [{ processedEventId: "4711\0" }, ["processedEventId"]],
  [{ processedEventId: 4711 }, ["processedEventId"]],
  [{ emits: {} }, ["emits"]],
  [{ emits: [4711] }, ["emits", 0]],
  [{ emits: [{ target_id: "t" }] }, ["emits", 0, "event"]],
  [{ emits: [{ event: {} }] }, ["emits", 0, "event", "kind"]],
  [{ emits: [{ event: EVENT }, { target_id: "4711\0", event: EVENT }] }, ["emits", 1, "target_id"]],
  [{ emits: [{ event: { ...EVENT, id: "4711\0" } }] }, ["emits", 0, "event", "id"]],
  [{ spawns: "4711" }, ["spawns"]],
  [{ spawns: [{}] }, ["spawns", 0, "child_id"]],
  [{ spawns: [{ child_id: "c" }, { child_id: "4711\0" }] }, ["spawns", 1, "child_id"]],
  [{ spawns: [{ child_id: "c", root_path: 4711 }] }, ["spawns", 0, "root_path"]],
  [{ timers: 4711 }, ["timers"]],
  [{ timers: ["4711"] }, ["timers", 0]],
  [{ timers: [{ op: "4711", path: "p" }] }, ["timers", 0, "op"]],
  [
    {
      timers: [
        { op: "cancel", path: "p" },
        { op: "cancel", path: "4711\0" },
      ],
    },
    ["timers", 1, "path"],
  ],
  [{ timers: [{ op: "schedule", path: 4711, fire_at: 1 }] }, ["timers", 0, "path"]],
  [{ timers: [{ op: "schedule", path: "p" }] }, ["timers", 0, "fire_at"]],
  [{ timers: [{ op: "schedule", path: "p", fire_at: "4711" }] }, ["timers", 0, "fire_at"]],
  [{ trace: "4711" }, ["trace"]],
  // Holes: passed over, they would be lost quietly.
  [{ emits: Object.assign([], { 1: { event: EVENT } }) }, ["emits", 0]],
  [{ spawns: Object.assign([], { 1: { child_id: "c" } }) }, ["spawns", 0]],
  [{ timers: Object.assign([], { 1: { op: "cancel", path: "p" } }) }, ["timers", 0]],
];

export const records: Chapter = {
  title: "records",
  scenarios: [
    scenario("L1 a bad Execution is refused by its path, and nothing is written", async ({ open }) => {
      const store = await open();
      await store.save(order("kept"));
      const before = await observe(store, ["a"]);
      for (const [fields, path] of WRONG_FIELDS) {
        const exe: Execution = { ...order("a"), ...fields };
        const { version } = exe;
        const error = await fails(RecordInvalid, { code: "record-invalid", path }, () =>
          store.commit(exe, everything("x")),
        );
        ok(!error.message.includes("4711"), `the message tells no value: ${error.message}`);
        equal(exe.version, version);
      }
      for (const exe of [null, undefined, 4711, "4711", [4711], new Map()] as unknown as Execution[]) {
        await fails(RecordInvalid, { path: [] }, () => store.save(exe));
      }
      equal(await observe(store, ["a"]), before);
    }),

    scenario("L1 a bad effect is refused by its path, and nothing is written", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      await store.commit(exe, everything("x"));
      const before = await observe(store);
      for (const [effects, path] of WRONG_EFFECTS) {
        const all = { ...everything("y"), ...(effects as Effects) };
        const error = await fails(RecordInvalid, { code: "record-invalid", path }, () => store.commit(exe, all));
        ok(!error.message.includes("4711"), `the message tells no value: ${error.message}`);
        equal(exe.version, 1);
      }
      equal(await observe(store), before);
      equal(await store.isProcessed("a", "handled-y"), false);
    }),

    scenario("L1 ids that no C program could read are refused by every operation", async ({ open }) => {
      const store = await open();
      for (const id of ["4711\0", "4711\ud800", 4711 as unknown as string, null as unknown as string]) {
        await fails(RecordInvalid, { path: ["id"] }, () => store.load(id));
        await fails(RecordInvalid, { path: ["id"] }, () => store.loadForEvent(id, "e"));
        await fails(RecordInvalid, { path: ["eventId"] }, () => store.loadForEvent("a", id));
        await fails(RecordInvalid, { path: ["id"] }, () => store.isProcessed(id, "e"));
        await fails(RecordInvalid, { path: ["eventId"] }, () => store.isProcessed("a", id));
        await fails(RecordInvalid, { path: ["id"] }, () => store.appendTrace(id, {}));
        await fails(RecordInvalid, { path: ["id"] }, () => store.readTrace(id));
        await fails(RecordInvalid, { path: ["id"] }, () => store.deleteTimer(id, "p", 1));
        await fails(RecordInvalid, { path: ["path"] }, () => store.deleteTimer("a", id, 1));
        if (id === null) continue;
        await fails(RecordInvalid, { path: ["definitionId"] }, () => store.listExecutions({ definitionId: id }));
        await fails(RecordInvalid, { path: ["status"] }, () => store.listExecutions({ status: [id as "DONE"] }));
      }
    }),

    scenario("L1 missing keys and explicit undefined take the defaults on writing", async ({ open }) => {
      const store = await open();
      const bare = {
        id: "a",
        definition_id: "order",
        deferred: [{ id: "e", kind: "K" }],
        children: { c: { root_path: "R" } },
      };
      await store.save(bare as unknown as Execution);
      const full = { ...order("a"), deferred: [EVENT], children: { c: CHILD } };
      equal(await store.load("a"), { ...full, version: 1 });
      equal((bare as unknown as Execution).version, 1, "the caller's version");
      const holes = Object.fromEntries(Object.keys(order("b")).map((key) => [key, undefined]));
      const unset = { ...holes, id: "b", definition_id: "order", from_the_future: undefined };
      await store.save(unset as unknown as Execution);
      equal(await store.load("b"), { ...order("b"), version: 1 });
      const event = { id: "e", kind: "K", data: undefined, created_time: undefined };
      await store.commit(order("c"), { emits: [{ target_id: undefined, event } as never], spawns: undefined } as never);
      equal((await store.pendingOutbox())[0]?.event, EVENT);
    }),

    scenario("L1 an Execution without an id is refused: nobody could find it again", async ({ open }) => {
      const store = await open();
      await fails(RecordInvalid, { path: ["id"] }, () => store.save({ definition_id: "order" } as Execution));
      equal((await store.listExecutions()).items, []);
    }),

    scenario(
      "L1 a frozen Execution is refused before it is written: its version could not be told",
      async ({ open }) => {
        const store = await open();
        const frozen = Object.freeze(order("a"));
        await fails(RecordInvalid, { path: ["version"] }, () => store.commit(frozen, everything("x")));
        equal(await store.load("a"), null);
        equal(await store.pendingOutbox(), []);
      },
    ),

    scenario("L1 what is shared inside a record, and no cycle, is fine", async ({ open }) => {
      const store = await open();
      const shared: JsonObject = { list: [1, { deep: true }] };
      await store.save(order("a", { context: { one: shared, two: [shared, shared], three: { four: shared } } }));
      const { context } = (await store.load("a"))!;
      equal(context, { one: shared, two: [shared, shared], three: { four: shared } });
    }),

    scenario(
      "L6 a document of a megabyte, one with many keys and one that is deep are stored whole",
      async ({ open }) => {
        const store = await open();
        const contexts: JsonObject[] = [
          { text: 'a"\\\n😀'.repeat(150_000) },
          Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key ${i}`, [i, `${i}`]])),
          { ascii: "x".repeat(1_000_000), number: 9007199254740991 },
          { deep: JSON.parse(`${"[".repeat(800)}1${"]".repeat(800)}`) },
        ];
        for (const [i, context] of contexts.entries()) {
          await store.save(order(`${i}`, { context }));
          sameText((await store.load(`${i}`))?.context, context);
        }
        equal(
          (await store.listExecutions()).items.map(({ status }) => status),
          Array(4).fill("PENDING"),
        );
        const tooDeep = { deep: JSON.parse(`${"[".repeat(2000)}1${"]".repeat(2000)}`) };
        await fails(RecordInvalid, { code: "record-invalid" }, () => store.save(order("x", { context: tooDeep })));
      },
    ),

    scenario("L7 keys named like parts of JavaScript are only keys", async ({ open }) => {
      const store = await open();
      const ids = '{"__proto__":{"root_path":"R"},"constructor":{"root_path":"S"},"toString":{"root_path":"T"}}';
      const exe = withKeys(order("a"), `{"children":${ids},"invoke_seq":{"__proto__":1,"constructor":2}}`);
      await store.save(exe);
      const loaded = (await store.load("a"))!;
      equal(Object.keys(loaded.children), ["__proto__", "constructor", "toString"]);
      equal(
        Object.values(loaded.children).map(({ root_path }) => root_path),
        ["R", "S", "T"],
      );
      sameText(loaded.invoke_seq, JSON.parse('{"__proto__":1,"constructor":2}'));
      equal(await store.load("__proto__"), null);
      await store.save(order("__proto__"));
      equal((await store.load("__proto__"))?.id, "__proto__");
    }),

    scenario("L7 ids that look like SQL are only ids", async ({ open }) => {
      const store = await open();
      const ids = ["'; DROP TABLE executions; --", '" OR ""="', "?1", ":id", "%", "a' OR '1'='1", "\\", "$.x"];
      for (const id of ids) {
        const timers = [{ op: "schedule" as const, path: id, fire_at: 1 }];
        const emits = [{ target_id: id, event: { id, kind: id } }];
        const exe = order(id, { definition_id: id });
        await store.commit(exe, {
          emits,
          timers,
          processedEventId: id,
          spawns: [{ child_id: id, root_path: id }],
          trace: {},
        });
        equal((await store.load(id))?.definition_id, id);
        equal(await store.isProcessed(id, id), true);
        equal(
          (await store.listExecutions({ definitionId: id })).items.map((item) => item.id),
          [id],
        );
        await store.deleteTimer(id, id, 1);
      }
      equal((await store.listExecutions()).items.length, ids.length);
      equal((await store.pendingOutbox()).length, ids.length);
      equal(await store.dueTimers(2), []);
      equal(await store.verify(), []);
    }),

    scenario("L1 effects that are no object are refused", async ({ open }) => {
      const store = await open();
      for (const effects of [null, "trace", 1, true]) {
        await fails(RecordInvalid, { path: ["effects"] }, () => store.commit(order("a"), effects as never));
      }
      equal(await store.load("a"), null);
    }),
  ],
};
