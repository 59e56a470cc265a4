// The asynchronous store: groups that share a flush, each promise with its own outcome, and reads that see nothing whose
// flush has not finished.
import { FlushFailed, SqlFailed, StoreBusy, StoreConflict } from "../../errors.ts";
import { equal, fails, failsWith, ok } from "../check.ts";
import { everything, kept, observe, order, range } from "../samples.ts";
import { asyncScenario, type Chapter } from "../scenario.ts";
import type { AsyncSqliteStore } from "../../store/async-sqlite-store.ts";

export const groups: Chapter<AsyncSqliteStore> = {
  title: "groups",
  scenarios: [
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
        ok(faults.appends <= 2, `two halves at the most: ${faults.appends}`);
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
  ],
};
