// Writing and reading one Execution: the compare-and-swap, and what a conflict leaves behind.
import { PerdureError, StoreConflict } from "../../errors.ts";
import { newExecution } from "../../records/codec.ts";
import { equal, fails, ok, sameText } from "../check.ts";
import { everything, observe, order } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";

/** Every key of an Execution, in the order of the contract. */
const KEYS = [
  ...["id", "definition_id", "definition_fqn", "root_path", "status", "outcome", "error", "active_path", "history"],
  ...["context", "processed_events", "version", "priority", "parent_id", "child_id", "deferred", "children"],
  "invoke_seq",
];

const conflict = (id: string, expected: number, found: number | null): object => ({
  name: "StoreConflict",
  code: "stale-write",
  executionId: id,
  expected,
  found,
  message: `stale write to ${id}: expected version ${expected}, found ${found ?? "None"}`,
});

export const executions: Chapter = {
  title: "executions",
  scenarios: [
    scenario("L1 a new Execution is inserted at version 1", async ({ open }) => {
      const store = await open();
      const exe = order("a", { context: { n: 1 } });
      equal(exe.version, 0);
      await store.save(exe);
      equal(exe.version, 1);
      equal(await store.load("a"), { ...order("a", { context: { n: 1 } }), version: 1 });
    }),

    scenario("L1 an Execution with nothing given is written with every default, keys in order", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const exe = newExecution({ definition_id: "order" });
      ok(/^[0-9a-f]{32}$/.test(exe.id), "an id is 32 hexadecimal digits");
      await store.save(exe);
      const [row] = await place.rows("SELECT id, definition_id, data, version FROM executions", 4);
      equal(row?.[0], exe.id);
      equal(row?.[1], "order");
      equal(row?.[3], "1");
      const data = JSON.parse(row?.[2] ?? "") as Record<string, unknown>;
      equal(Object.keys(data), KEYS);
      const nulls = {
        definition_fqn: null,
        outcome: null,
        error: null,
        active_path: null,
        parent_id: null,
        child_id: null,
      };
      equal(data, {
        ...nulls,
        ...{ id: exe.id, definition_id: "order", root_path: "", status: "PENDING", history: {}, context: {} },
        ...{ processed_events: 0, version: 1, priority: 0, deferred: [], children: {}, invoke_seq: {} },
      });
      sameText(await store.load(exe.id), data);
    }),

    scenario("L1 blob and column carry the same version", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const exe = order("a");
      for (const version of [1, 2, 3]) {
        await store.commit(exe, {});
        equal(exe.version, version);
        const rows = await place.rows("SELECT version, json_extract(data, '$.version') FROM executions", 2);
        equal(rows, [[`${version}`, `${version}`]]);
      }
    }),

    scenario("L1 save and commit without effects are the same write", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      await store.save(exe);
      await store.commit(exe);
      await store.commit(exe, { emits: null, processedEventId: null, timers: null, spawns: null, trace: null });
      const seen = await observe(store);
      equal(exe.version, 3);
      equal([seen.outbox, seen.spawns, seen.timers, seen.traces], [[], [], [], [[]]]);
    }),

    scenario("L4 a stale write says which versions met, found None", async ({ open }) => {
      const store = await open();
      const exe = order("ghost", { version: 5 });
      const error = await fails(StoreConflict, conflict("ghost", 5, null), () => store.save(exe));
      equal(error.message, "stale write to ghost: expected version 5, found None");
      ok(error instanceof PerdureError && error instanceof Error, "a StoreConflict is a PerdureError and an Error");
      equal(exe.version, 5);
      equal(await store.load("ghost"), null);
    }),

    scenario("L4 a stale write says which versions met, found a number", async ({ open }) => {
      const store = await open();
      const first = order("a");
      await store.save(first);
      const stale = (await store.load("a"))!;
      await store.save(first);
      await fails(StoreConflict, conflict("a", 1, 2), () => store.save(stale));
      await fails(StoreConflict, conflict("a", 9, 2), () => store.save(order("a", { version: 9 })));
      equal(stale.version, 1);
      equal((await store.load("a"))?.version, 2);
    }),

    scenario("L4 version 0 inserts over a missing row and conflicts with one that is there", async ({ open }) => {
      const store = await open();
      await store.save(order("a", { context: { first: true } }));
      const second = order("a", { context: { second: true } });
      await fails(StoreConflict, conflict("a", 0, 1), () => store.save(second));
      equal(second.version, 0);
      equal((await store.load("a"))?.context, { first: true });
      await store.save(order("b"));
      equal((await store.load("b"))?.version, 1);
    }),

    scenario(
      "L4 a row that another program deleted is found None, and version 0 may insert it anew",
      async ({ share }) => {
        const { place, open } = await share();
        const store = await open();
        const exe = order("a");
        await store.save(exe);
        await place.run("DELETE FROM executions");
        await fails(StoreConflict, conflict("a", 1, null), () => store.save(exe));
        exe.version = 0;
        await store.save(exe);
        equal((await store.load("a"))?.version, 1);
      },
    ),

    scenario("L1 a commit that conflicts changes nothing", async ({ open }) => {
      const store = await open();
      const exe = order("a", { context: { round: 1 } });
      await store.commit(exe, everything("first"));
      const before = await observe(store);
      const stale = order("a", { version: 7, context: { round: 2 } });
      await fails(StoreConflict, conflict("a", 7, 1), () => store.commit(stale, everything("second")));
      equal(await observe(store), before);
      equal(await store.isProcessed("a", "handled-second"), false);
      equal(stale.version, 7);
      await store.commit(exe, everything("third"));
      equal(exe.version, 2);
      equal((await observe(store)).outbox.length, 2);
    }),

    scenario("L1 definition_id stays in its column as it was inserted", async ({ open }) => {
      // The contract's UPDATE does not set it: listings filter by what the run began as.
      const store = await open();
      const exe = order("a");
      await store.save(exe);
      exe.definition_id = "renamed";
      await store.save(exe);
      equal((await store.load("a"))?.definition_id, "renamed");
      equal((await store.listExecutions()).items[0]?.definition_id, "order");
    }),

    scenario("L3 a loaded Execution is a fresh copy every time", async ({ open }) => {
      const store = await open();
      await store.save(order("a", { context: { list: [1] } }));
      const first = (await store.load("a"))!;
      (first.context["list"] as number[]).push(2);
      first.status = "DONE";
      const second = (await store.load("a"))!;
      ok(first !== second && first.context !== second.context, "nothing is shared");
      equal(second.context, { list: [1] });
      equal(second.status, "PENDING");
    }),

    scenario("L3 what is not there is null", async ({ open }) => {
      const store = await open();
      equal(await store.load("nobody"), null);
      equal(await store.loadForEvent("nobody", "event"), [null, false]);
      equal(await store.isProcessed("nobody", "event"), false);
      equal(await store.readTrace("nobody"), []);
      equal(await store.pendingOutbox(), []);
      equal(await store.pendingSpawns(), []);
      equal(await store.dueTimers(1e12), []);
      equal(await store.listExecutions(), { items: [], nextCursor: null });
    }),

    scenario("L1 an Execution of every field comes back as it was", async ({ open }) => {
      const store = await open();
      const exe = order("a", {
        ...{ definition_fqn: "shop.order:v2", root_path: "Root", status: "SUSPENDED", outcome: "ok", error: "none" },
        ...{ active_path: "Root.Pay", history: { Root: "Root.Cart" }, context: { total: 1.5 }, processed_events: 9 },
        ...{ priority: 4, parent_id: "p", child_id: "p:Fork:1", invoke_seq: { Fork: 2 } },
        deferred: [
          { id: "e", kind: "Later", created_time: "2026-01-02T03:04:05Z", received_time: "x", data: { a: 1 } },
        ],
        children: {
          "a:Fork:1": {
            root_path: "F",
            finished: true,
            outcome: "done",
            result: { r: [] },
            submachine: true,
            key: "k",
          },
        },
      });
      await store.save(exe);
      sameText(await store.load("a"), exe);
    }),
  ],
};
