// What a commit does besides writing its Execution: emits, the dedupe marker, spawns, timers, the trace step.
import { SqlFailed } from "../../errors.ts";
import { equal, fails, ok, sameText } from "../check.ts";
import { everything, observe, order, withKeys } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";

export const commits: Chapter = {
  title: "commits",
  scenarios: [
    scenario("L1 all effects land with the new state", async ({ open }) => {
      const store = await open();
      const exe = order("a", { status: "RUNNING" });
      await store.commit(exe, everything("x"));
      equal((await store.load("a"))?.status, "RUNNING");
      equal(await store.isProcessed("a", "handled-x"), true);
      const event = { id: "event-x", kind: "Emitted", created_time: null, received_time: null, data: { tag: "x" } };
      equal(await store.pendingOutbox(), [{ seq: 1, target_id: "to-x", event }]);
      const spawn = { seq: 1, parent_id: "a", child_id: "child-x", root_path: "Fork", context: { tag: "x" } };
      equal(await store.pendingSpawns(), [spawn]);
      equal(await store.dueTimers(12.5), [{ execution_id: "a", path: "Wait.x", fire_at: 12.5 }]);
      equal(await store.readTrace("a"), [{ tag: "x", index: 0 }]);
    }),

    scenario("L1 the rows are the contract's, byte for byte", async ({ share }) => {
      const { place, open } = await share();
      await (await open()).commit(order("a"), { ...everything("x"), trace: { b: 1, a: [] } });
      const emitted = '{"id":"event-x","kind":"Emitted","created_time":null,"received_time":null,"data":{"tag":"x"}}';
      equal(await place.rows("SELECT seq, target_id, event FROM outbox", 3), [["1", "to-x", emitted]]);
      const spawned = ["1", "a", "child-x", "Fork", '{"tag":"x"}'];
      equal(await place.rows("SELECT seq, parent_id, child_id, root_path, context FROM spawns", 5), [spawned]);
      equal(await place.rows("SELECT execution_id, event_id FROM processed_events", 2), [["a", "handled-x"]]);
      const timer = ["a", "Wait.x", "12.5", "real"];
      equal(await place.rows("SELECT execution_id, path, fire_at, typeof(fire_at) FROM timers", 4), [timer]);
      equal(await place.rows("SELECT execution_id, idx, entry FROM trace", 3), [["a", "0", '{"b":1,"a":[]}']]);
      equal(await place.rows("SELECT user_version FROM pragma_user_version", 1), [["0"]]);
    }),

    scenario("L1 emits keep their order, and targets null, empty and named stay apart", async ({ open }) => {
      const store = await open();
      const emits = [
        { target_id: null, event: { kind: "A" } },
        { target_id: "", event: { kind: "B" } },
        { target_id: "t", event: { kind: "C" } },
        { event: { kind: "D" } },
      ];
      await store.commit(order("a"), { emits });
      const rows = await store.pendingOutbox();
      equal(
        rows.map(({ seq }) => seq),
        [1, 2, 3, 4],
      );
      equal(
        rows.map(({ target_id }) => target_id),
        [null, "", "t", null],
      );
      equal(
        rows.map(({ event }) => event.kind),
        ["A", "B", "C", "D"],
      );
      const ids = new Set(rows.map(({ event }) => event.id));
      equal(ids.size, 4);
      ok(
        [...ids].every((id) => /^[0-9a-f]{32}$/.test(id)),
        "an event without an id gets one of its own",
      );
    }),

    scenario("L1 spawns keep their order and take their defaults", async ({ open }) => {
      const store = await open();
      const spawns = [{ child_id: "c2" }, { child_id: "c1", root_path: "R", context: { deep: { x: [null] } } }];
      await store.commit(order("a"), { spawns });
      equal(await store.pendingSpawns(), [
        { seq: 1, parent_id: "a", child_id: "c2", root_path: "", context: {} },
        { seq: 2, parent_id: "a", child_id: "c1", root_path: "R", context: { deep: { x: [null] } } },
      ]);
    }),

    scenario("L1 the dedupe marker is recorded when it is not null, the empty one too", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      await store.commit(exe, { processedEventId: null });
      equal(await store.isProcessed("a", ""), false);
      await store.commit(exe, { processedEventId: "" });
      equal(await store.isProcessed("a", ""), true);
      equal(await store.isProcessed("a", "null"), false);
    }),

    scenario("L1 a marker belongs to one Execution, and recording it again is no error", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      await store.commit(exe, { processedEventId: "e" });
      await store.commit(exe, { processedEventId: "e" });
      equal(exe.version, 2);
      equal(await store.isProcessed("a", "e"), true);
      equal(await store.isProcessed("b", "e"), false);
      equal(await store.isProcessed("a", "E"), false);
    }),

    scenario("L1 loadForEvent answers both questions at once", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const exe = order("a");
      await store.commit(exe, { processedEventId: "seen" });
      equal(await store.loadForEvent("a", "seen"), [exe, true]);
      equal(await store.loadForEvent("a", "new"), [exe, false]);
      await place.run("INSERT INTO processed_events VALUES ('gone', 'seen')");
      equal(await store.loadForEvent("gone", "seen"), [null, false], "a marker without its Execution");
      equal(await store.isProcessed("gone", "seen"), true);
    }),

    scenario("L1 timer operations apply in their order", async ({ open }) => {
      const store = await open();
      const at = (fire_at: number) => ({ op: "schedule" as const, path: "W", fire_at });
      const cancel = { op: "cancel" as const, path: "W" };
      const exe = order("a");
      const cases = [
        { timers: [at(1)], left: [1] },
        { timers: [at(2), at(3)], left: [3] },
        { timers: [at(4), cancel], left: [] },
        { timers: [cancel, at(5)], left: [5] },
        { timers: [cancel, cancel], left: [] },
        { timers: [cancel, at(6), cancel, at(7)], left: [7] },
        { timers: [{ op: "cancel" as const, path: "elsewhere" }], left: [7] },
      ];
      for (const { timers, left } of cases) {
        await store.commit(exe, { timers });
        equal(
          (await store.dueTimers(100)).map(({ fire_at }) => fire_at),
          left,
        );
      }
    }),

    scenario("L1 an empty trace step is recorded, null is not", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      await store.commit(exe, { trace: {} });
      await store.commit(exe, { trace: null });
      await store.commit(exe, { trace: { last: true } });
      equal(await store.readTrace("a"), [{ index: 0 }, { last: true, index: 1 }]);
    }),

    scenario("L1 a commit that SQLite stops half-way changes nothing", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const exe = order("a");
      await store.commit(exe, everything("x"));
      // The CAS write, the emit, the marker and the spawn are done when the timer is refused.
      await place.run(
        "CREATE TRIGGER stop BEFORE INSERT ON timers WHEN NEW.path = 'Wait.boom' BEGIN SELECT RAISE(ABORT, 'stopped'); END",
      );
      const before = await observe(store);
      await fails(SqlFailed, { code: "sql-failed", name: "SqlFailed" }, () => store.commit(exe, everything("boom")));
      equal(exe.version, 1);
      equal(await observe(store), before);
      equal(await store.isProcessed("a", "handled-boom"), false);
      await store.commit(exe, everything("y"));
      equal(exe.version, 2);
      equal(await place.rows("PRAGMA integrity_check", 1), [["ok"]]);
    }),

    scenario("L7 unknown keys are kept in every record, one named __proto__ too", async ({ open }) => {
      const store = await open();
      const extra = '{"from_the_future":{"Deep":[1]},"__proto__":{"polluted":true},"constructor":"x"}';
      const event = withKeys({ id: "e", kind: "K", created_time: null, received_time: null, data: {} }, extra);
      const blank = { finished: false, outcome: null, result: {}, submachine: false, key: "" };
      const child = withKeys({ root_path: "R", ...blank }, extra);
      const exe = withKeys(order("a", { deferred: [event], children: { c: child } }), extra);
      await store.commit(exe, { emits: [{ event }] });
      const loaded = (await store.load("a"))!;
      sameText(loaded, exe);
      ok(Object.hasOwn(loaded, "__proto__"), "__proto__ is a key of its own");
      ok(!("polluted" in {}) && !("polluted" in loaded), "no prototype was touched");
      sameText((await store.pendingOutbox())[0]?.event, event);
      await store.save(loaded);
      sameText(await store.load("a"), { ...exe, version: 2 });
    }),
  ],
};
