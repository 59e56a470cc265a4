// The asynchronous store: order of calls, groups that share a flush, each promise with its own outcome, and reads that
// see nothing whose flush has not finished.
import { FlushFailed, SqlFailed, StoreBusy, StoreClosed, StoreConflict } from "../../errors.ts";
import { equal, fails, failsWith, ok } from "../check.ts";
import { everything, observe, order } from "../samples.ts";
import { asyncScenario, type Chapter } from "../scenario.ts";
import type { AsyncSqliteStore } from "../../store/async-sqlite-store.ts";

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** What became of promises: true for each that was kept. */
const kept = async (promises: readonly unknown[]): Promise<boolean[]> =>
  (await Promise.allSettled(promises)).map(({ status }) => status === "fulfilled");

export const groups: Chapter<AsyncSqliteStore> = {
  title: "groups",
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
        await store.commit(second.version === 1 ? (await store.load("a"))! : second, everything("third"));
        equal((await store.load("a"))?.version, 3);
      },
    ),

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

    asyncScenario(
      "L6 64 commits in flight share a flush, each with its own outcome",
      async ({ openFaulty, faults }) => {
        const store = await openFaulty();
        for (const i of range(8)) await store.save(order(`${i}`));
        faults.calls = [];
        // Every eighth one is stale.
        const exes = range(64).map((i) => order(`${i}`, { version: i < 8 ? 1 : i % 8 === 0 ? 3 : 0 }));
        const outcomes = await kept(exes.map((exe) => store.commit(exe, everything(exe.id))));
        equal(
          outcomes,
          range(64).map((i) => i < 8 || i % 8 !== 0),
        );
        equal(
          exes.map(({ version }) => version),
          range(64).map((i) => (i < 8 ? 2 : i % 8 === 0 ? 3 : 1)),
        );
        equal(faults.appends, 1);
        const wanted = range(64).filter((i) => outcomes[i]);
        equal(
          (await store.pendingOutbox()).map(({ target_id }) => target_id),
          wanted.map((i) => `to-${i}`),
        );
        equal(await Promise.all(range(64).map((i) => store.isProcessed(`${i}`, `handled-${i}`))), outcomes);
      },
    ),

    asyncScenario("L3 a read sees nothing whose flush has not finished", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const exe = order("a");
      await store.commit(exe, everything("x"));
      const before = await observe(store);
      const error = new FlushFailed("place", new Error("injected"));
      const gate = faults.hold();
      faults.failing.append.push(error);
      const commit = store.commit(exe, everything("lost"));
      const sameGroup = observe(store);
      await gate.reached;
      const [whileFlushing, processed] = [observe(store), store.isProcessed("a", "handled-lost")];
      gate.open();
      await failsWith(error, () => commit);
      equal(await sameGroup, before, "called before the flush");
      equal(await whileFlushing, before, "called during the flush");
      equal(await processed, false);
    }),

    asyncScenario("L3 a read waits for the flush under way and then sees it", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const settled: string[] = [];
      const gate = faults.hold();
      const commit = store.save(order("a"));
      await gate.reached;
      const read = store.load("a");
      const done = [
        commit.then(() => settled.push("commit")),
        read.then((exe) => settled.push(`read ${exe?.version}`)),
      ];
      gate.open();
      await Promise.all(done);
      equal(settled, ["commit", "read 1"]);
    }),

    asyncScenario("L1 what is called during a flush runs together next", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      faults.calls = [];
      const gate = faults.hold();
      const first = store.save(order("first"));
      await gate.reached;
      const next = range(20).map((i) => store.save(order(`${i}`)));
      gate.open();
      await Promise.all([first, ...next]);
      equal(faults.appends, 2);
      equal((await store.listExecutions()).items.length, 21);
    }),

    asyncScenario(
      "L1 a flush that fails rejects each commit of its group, and the next one works",
      async ({ openFaulty, faults }) => {
        const store = await openFaulty();
        await store.commit(order("kept"), everything("kept"));
        const before = await observe(store);
        const gate = faults.hold();
        const error = new FlushFailed("place", new Error("injected"));
        faults.failing.append.push(error);
        const exes = range(10).map((i) => order(`${i}`));
        const group = exes.map((exe) => store.commit(exe, everything(exe.id)));
        const conflict = store.save(order("kept", { version: 7 }));
        await gate.reached;
        const next = range(5).map((i) => store.commit(order(`next ${i}`), everything(`next ${i}`)));
        gate.open();
        for (const commit of group) await failsWith(error, () => commit);
        ok(!(await kept([conflict]))[0], "a conflict in the group is no success either");
        equal(
          exes.map(({ version }) => version),
          range(10).map(() => 0),
        );
        equal(
          await kept(next),
          range(5).map(() => true),
        );
        const after = await observe(store);
        equal(after.outbox.length, 6);
        equal(after.executions.length, before.executions.length + 5);
        equal(await store.isProcessed("0", "handled-0"), false);
        for (const exe of exes) await store.commit(exe, everything(exe.id));
        equal((await store.pendingOutbox()).length, 16);
      },
    ),

    asyncScenario("L4 a lease that is not to be had fails the writes of a group, not its reads", async (stage) => {
      const { openFaulty, faults } = stage;
      const store = await openFaulty();
      await store.save(order("a"));
      const error = new StoreBusy("place", 5000, "somebody");
      faults.failing.lock.push(error);
      const exe = order("b");
      const [commit, loaded, append, listed] = [
        store.commit(exe, everything("b")),
        store.load("a"),
        store.appendTrace("a", {}),
        store.listExecutions(),
      ];
      await failsWith(error, () => commit);
      await failsWith(error, () => append);
      equal((await loaded)?.version, 1);
      equal((await listed).items.length, 1);
      equal(exe.version, 0);
      await store.commit(exe, everything("b"));
      equal((await store.load("b"))?.version, 1);
    }),

    asyncScenario("L1 an error of one member does not hurt the others", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await store.save(order("old"));
      await place.run(
        "CREATE TRIGGER stop BEFORE INSERT ON trace WHEN NEW.entry LIKE '%boom%' BEGIN SELECT RAISE(ABORT, 'stopped'); END",
      );
      const tags = ["1", "boom", "2", "stale", "3", "boom too", "4"];
      const exes = tags.map((tag) => order(tag, { version: tag === "stale" ? 4 : 0 }));
      const commits = exes.map((exe, i) => store.commit(exe, everything(tags[i]!)));
      const reads = [store.load("old"), store.load("2"), store.load("boom")];
      equal(
        await kept(commits),
        tags.map((tag) => !tag.startsWith("boom") && tag !== "stale"),
      );
      await fails(SqlFailed, { code: "sql-failed" }, () => commits[1]);
      await fails(StoreConflict, { expected: 4, found: null }, () => commits[3]);
      await fails(SqlFailed, { code: "sql-failed" }, () => commits[5]);
      equal(
        (await Promise.all(reads)).map((exe) => exe?.version ?? null),
        [1, 1, null],
      );
      equal(
        exes.map(({ version }) => version),
        [1, 0, 1, 4, 1, 0, 1],
      );
      const { outbox, executions } = await observe(store);
      equal(
        executions.map((exe) => exe?.id),
        ["1", "2", "3", "4", "old"],
      );
      equal(
        (outbox as { target_id: string }[]).map(({ target_id }) => target_id),
        ["to-1", "to-2", "to-3", "to-4"],
      );
      equal(await store.isProcessed("boom", "handled-boom"), false);
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
