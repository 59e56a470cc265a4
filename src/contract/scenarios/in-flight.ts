// The asynchronous store: calls that are made before others have finished. Their order, whose record is whose, and what
// close waits for.
import { StoreClosed, StoreConflict } from "../../errors.ts";
import { equal, fails, ok } from "../check.ts";
import { everything, kept, observe, order, range } from "../samples.ts";
import { asyncScenario, type Chapter } from "../scenario.ts";
import type { AsyncSqliteStore } from "../../store/async-sqlite-store.ts";

export const inFlight: Chapter<AsyncSqliteStore> = {
  title: "calls in flight",
  scenarios: [
    asyncScenario(
      "L1 of two commits in flight on one Execution the loser changes nothing, its marker is absent",
      async ({ open }) => {
        const store = await open();
        await store.save(order("a"));
        const [first, second] = [(await store.load("a"))!, (await store.load("a"))!];
        first.context["by"] = "first";
        second.context["by"] = "second";
        const both = [store.commit(first, everything("first")), store.commit(second, everything("second"))];
        equal(await kept(both), [true, false]);
        await fails(StoreConflict, { message: "stale write to a: expected version 1, found 2" }, () => both[1]);
        equal([first.version, second.version], [2, 1]);
        equal((await store.load("a"))?.context, { by: "first" });
        equal(await store.isProcessed("a", "handled-first"), true);
        equal(await store.isProcessed("a", "handled-second"), false);
        const seen = await observe(store);
        equal([seen.outbox.length, seen.spawns.length, seen.timers.length, seen.traces[0]?.length], [1, 1, 1, 1]);
        await store.commit((await store.load("a"))!, everything("third"));
        equal((await store.load("a"))?.version, 3);
      },
    ),

    asyncScenario("L4 calls that are fenced together run again, in their order", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await store.save(order("a"));
      for (const fenced of [1, 3]) {
        place.stealNext(fenced);
        const [exe, stale] = [(await store.load("a"))!, order("a")];
        const calls = [
          store.commit(exe, { emits: [{ event: { kind: "1" } }] }),
          store.save(stale),
          store.appendTrace("a", {}),
          store.readTrace("a"),
          store.ackOutbox(9),
        ] as const;
        equal(await kept(calls), [true, false, true, true, true]);
        equal((await calls[3]).length, fenced === 1 ? 1 : 2);
      }
      equal((await store.load("a"))?.version, 3);
      equal(
        (await store.pendingOutbox()).map(({ seq }) => seq),
        [1, 2],
      );
    }),

    asyncScenario("L1 operations take effect in the order of the calls", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      const [, a, , , due, , , outbox, , steps, missing, , page] = await Promise.all([
        store.commit(exe, { emits: [{ event: { kind: "1" } }], timers: [{ op: "schedule", path: "p", fire_at: 1 }] }),
        store.load("a"),
        store.commit(order("b"), { emits: [{ event: { kind: "2" } }] }),
        store.deleteTimer("a", "p", 1),
        store.dueTimers(9),
        store.appendTrace("a", { n: 3 }),
        store.ackOutbox(1),
        store.pendingOutbox(),
        store.appendTrace("a", { n: 4 }),
        store.readTrace("a"),
        store.load("c"),
        store.save(order("c")),
        store.listExecutions(),
      ]);
      equal(a?.version, 1);
      equal(due, []);
      equal(
        outbox.map(({ seq }) => seq),
        [2],
      );
      equal(
        steps.map(({ n, index }) => [n, index]),
        [
          [3, 0],
          [4, 1],
        ],
      );
      equal(missing, null);
      equal(page.items.length, 3);
    }),

    asyncScenario("L1 a record that will not take its new version does not hurt the others", async ({ open }) => {
      const store = await open();
      const stubborn = new Proxy(order("b"), { set: () => false });
      const commits = [store.save(order("a")), store.save(stubborn), store.save(order("c"))];
      equal(await kept(commits), [true, false, true]);
      equal(
        (await store.listExecutions()).items.map(({ id }) => id),
        ["a", "b", "c"],
      );
    }),

    asyncScenario("L1 what is changed after the call does not count", async ({ open }) => {
      const store = await open();
      const exe = order("a", { context: { n: 1 }, status: "RUNNING" });
      const effects = { ...everything("x"), emits: [{ target_id: "t", event: { kind: "K", data: { n: 1 } } }] };
      const commit = store.commit(exe, effects);
      exe.context["n"] = 2;
      exe.status = "DONE";
      effects.emits[0]!.event.data.n = 2;
      effects.emits.push(effects.emits[0]!);
      await commit;
      const entry = { step: 1 };
      const append = store.appendTrace("a", entry);
      entry.step = 2;
      await append;
      const loaded = (await store.load("a"))!;
      equal([loaded.context, loaded.status], [{ n: 1 }, "RUNNING"]);
      equal(
        (await store.pendingOutbox()).map(({ event }) => event.data),
        [{ n: 1 }],
      );
      equal((await store.readTrace("a"))[1], { step: 1, index: 1 });
      equal([exe.status, exe.version], ["DONE", 1], "the caller's record, but for its version, is the caller's");
    }),

    asyncScenario(
      "L2 close lets what was called before finish, and what comes after fails",
      async ({ openFaulty, faults }) => {
        const store = await openFaulty();
        const gate = faults.hold();
        const early = [store.save(order("a")), store.load("a"), store.save(order("b"))];
        await gate.reached;
        const later = store.save(order("c"));
        const closing = [store.close(), store.close()];
        await fails(StoreClosed, { code: "store-closed" }, () => store.load("a"));
        gate.open();
        equal(
          await kept([...early, later, ...closing]),
          range(6).map(() => true),
        );
        equal(faults.calls.at(-1), "close");
        equal(faults.calls.filter((call) => call === "close").length, 1);
      },
    ),

    asyncScenario("L2 close drains 10,000 commits, in order", async ({ openFaulty, faults, target }) => {
      const store = await openFaulty();
      faults.calls = [];
      const settled: number[] = [];
      const commits = range(10_000).map(async (i) => {
        await store.commit(order(`${i % 500}`, { version: Math.floor(i / 500) }));
        settled.push(i);
      });
      await store.close();
      equal(settled.length, 10_000, "all had settled when close did");
      equal(
        await kept(commits),
        range(10_000).map(() => true),
      );
      equal(settled, range(10_000));
      ok(faults.appends < 1_000, `commits share flushes: ${faults.appends}`);
      if (target.supports.durable) {
        const again = await openFaulty();
        const { items } = await again.listExecutions({ limit: 1_000 });
        equal(items.length, 500);
        ok(
          items.every(({ version }) => version === 20),
          "every commit is there",
        );
      }
    }),
  ],
};
