// The asynchronous store: groups that run in memory while the one before them is flushed. What they saw may never become
// true; then nobody may learn of it.
import { Fenced, FlushFailed, SqlFailed, StoreClosed, StoreConflict } from "../../errors.ts";
import type { Execution } from "../../records/structs.ts";
import type { AsyncSqliteStore } from "../../store/async-sqlite-store.ts";
import { equal, fails, failsWith, ok } from "../check.ts";
import type { Faults, Gate } from "../faults.ts";
import { everything, kept, observe, order, range } from "../samples.ts";
import { asyncScenario, type Chapter } from "../scenario.ts";

/** All that can run now has run: what is called during a flush is in memory. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
const flushFailed = (): FlushFailed => new FlushFailed("place", new Error("injected"));

/** A store with Executions "a" and "b", and a commit to "a" that is being flushed. */
async function committing(
  store: AsyncSqliteStore,
  faults: Faults,
): Promise<{ gate: Gate; first: Promise<void>; exe: Execution; stale: Execution }> {
  await store.save(order("a"));
  await store.save(order("b"));
  const [exe, stale] = [(await store.load("a"))!, (await store.load("a"))!];
  exe.context["by"] = "first";
  const gate = faults.hold();
  const first = store.commit(exe, everything("first"));
  // Whoever looks at it later still does; nobody else may complain meanwhile.
  first.catch(() => {});
  await gate.reached;
  return { gate, first, exe, stale };
}

export const duringFlush: Chapter<AsyncSqliteStore> = {
  title: "groups that run during a flush",
  scenarios: [
    asyncScenario("L3 nothing of them is told before their own flush is over", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const { gate, first } = await committing(store, faults);
      const told: string[] = [];
      const next = [
        store.save(order("c")).then(() => told.push("commit")),
        store.load("a").then((exe) => told.push(`a ${exe?.version}`)),
        store.load("c").then((exe) => told.push(`c ${exe?.version}`)),
        store.save(order("b")).catch(() => told.push("conflict")),
      ];
      await settled();
      const second = faults.hold();
      gate.open();
      await first;
      await second.reached;
      await settled();
      equal(told, []);
      second.open();
      await Promise.all(next);
      equal(told.sort(), ["a 2", "c 1", "commit", "conflict"]);
    }),

    asyncScenario("L3 a read during a flush that fails sees what is durable", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const before = await observe(store);
      const { gate, first } = await committing(store, faults);
      const error = flushFailed();
      faults.failing.append.push(error);
      const [loaded, outbox, page] = [store.load("a"), store.pendingOutbox(), store.listExecutions()];
      await settled();
      gate.open();
      await failsWith(error, () => first);
      equal([(await loaded)?.version, (await loaded)?.context], [1, {}]);
      equal(await outbox, before.outbox);
      equal(
        (await page).items.map(({ version }) => version),
        [1, 1],
      );
    }),

    asyncScenario("L1 a flush that fails takes back what ran during it, which runs anew", async (stage) => {
      const { openFaulty, faults } = stage;
      const store = await openFaulty();
      const { gate, first, exe, stale } = await committing(store, faults);
      const error = flushFailed();
      faults.failing.append.push(error);
      const onFirst = order("a", { version: 2 });
      const next = [
        // A conflict with what is being flushed, and a success on top of it: neither is true once that has failed.
        store.commit(stale, everything("stale")),
        store.commit(order("c"), everything("c")),
      ];
      const built = store.save(onFirst);
      built.catch(() => {});
      const trace = store.readTrace("a");
      await settled();
      gate.open();
      await failsWith(error, () => first);
      equal(await kept(next), [true, true]);
      equal([exe.version, stale.version], [1, 2]);
      await built;
      equal(await trace, [{ tag: "stale", index: 0 }]);
      const { outbox, spawns } = await observe(store);
      equal([outbox.length, spawns.length], [2, 2]);
      equal(
        [await store.isProcessed("a", "handled-first"), await store.isProcessed("a", "handled-stale")],
        [false, true],
      );
      equal((await store.load("a"))?.version, 3);
    }),

    asyncScenario("L1 what counted on a commit whose flush fails meets a conflict", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const { gate, first } = await committing(store, faults);
      faults.failing.append.push(flushFailed());
      const built = store.commit(order("a", { version: 2 }), everything("built"));
      built.catch(() => {});
      await settled();
      gate.open();
      await fails(FlushFailed, {}, () => first);
      await fails(StoreConflict, { expected: 2, found: 1 }, () => built);
      const { outbox, spawns, timers, traces } = await observe(store);
      equal([outbox, spawns, timers, traces], [[], [], [], [[], []]]);
    }),

    asyncScenario("L1 two flushes that fail reject each its own commits, and the next one works", async (stage) => {
      const { openFaulty, faults } = stage;
      const store = await openFaulty();
      const { gate, first, stale } = await committing(store, faults);
      const before = [flushFailed(), flushFailed()] as const;
      faults.failing.append.push(...before);
      const next = [store.commit(stale, everything("stale")), store.save(order("c"))];
      for (const commit of next) commit.catch(() => {});
      const read = store.load("a");
      await settled();
      gate.open();
      await failsWith(before[0], () => first);
      for (const commit of next) await failsWith(before[1], () => commit);
      equal((await read)?.version, 1);
      equal((await observe(store)).executions.length, 2);
      await store.commit(stale, everything("again"));
      equal(stale.version, 2);
      equal((await observe(store)).outbox.length, 1);
    }),

    asyncScenario("L1 one of them that fails hurts neither the others nor the flush", async ({ share, faults }) => {
      const { place, open } = await share();
      const store = await open();
      await place.run(
        "CREATE TRIGGER stop BEFORE INSERT ON trace WHEN NEW.entry LIKE '%boom%' BEGIN SELECT RAISE(ABORT, 'stopped'); END",
      );
      for (const failure of [null, flushFailed()]) {
        const tag = failure === null ? "kept" : "failed";
        const gate = faults.hold();
        const first = store.commit(order(tag), everything(tag));
        first.catch(() => {});
        await gate.reached;
        if (failure !== null) faults.failing.append.push(failure);
        const tags = [`1 ${tag}`, `boom ${tag}`, `2 ${tag}`];
        const next = tags.map((one) => store.commit(order(one), everything(one)));
        const outcomes = kept(next);
        await settled();
        gate.open();
        if (failure === null) await first;
        else await failsWith(failure, () => first);
        equal(await outcomes, [true, false, true]);
        await fails(SqlFailed, {}, () => next[1]);
      }
      equal(
        (await store.listExecutions()).items.map(({ id }) => id),
        ["1 failed", "1 kept", "2 failed", "2 kept", "kept"],
      );
      equal((await store.pendingOutbox()).length, 5);
    }),

    asyncScenario("L4 a fenced flush runs anew, and after it what ran during it", async (stage) => {
      const { openFaulty, faults } = stage;
      const store = await openFaulty();
      const { gate, first, stale } = await committing(store, faults);
      faults.failing.append.push(new Fenced("place"));
      const next = store.commit(stale, everything("stale"));
      await settled();
      faults.calls = [];
      gate.open();
      await first;
      await fails(StoreConflict, { expected: 1, found: 2 }, () => next);
      equal((await store.load("a"))?.version, 2);
      equal(faults.calls.slice(0, 5), ["append", "release", "lock", "pull", "append"], "it looked anew");
    }),

    asyncScenario("L2 close lets them finish", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const { gate, first } = await committing(store, faults);
      const next = [store.save(order("c")), store.load("a")];
      await settled();
      const closing = store.close();
      await fails(StoreClosed, {}, () => store.load("a"));
      gate.open();
      equal(
        await kept([first, ...next, closing]),
        range(4).map(() => true),
      );
      equal(faults.calls.at(-1), "close");
    }),

    asyncScenario("L4 the lease is given back now and then, however much there is to do", async (stage) => {
      const { openFaulty, faults } = stage;
      const store = await openFaulty();
      faults.calls = [];
      const lane = async (id: string): Promise<void> => {
        for (const version of range(100)) await store.save(order(id, { version }));
      };
      // The second one begins while the first one is flushed, and so they take turns.
      const gate = faults.hold();
      const first = lane("a");
      await gate.reached;
      const second = lane("b");
      await settled();
      gate.open();
      await Promise.all([first, second]);
      const stretches = faults.calls.join(" ").split("release");
      const appends = stretches.map((calls) => calls.split("append").length - 1);
      ok(Math.max(...appends) <= 8, `appends under one lease: ${Math.max(...appends)}`);
      equal(
        (await store.listExecutions()).items.map(({ version }) => version),
        [100, 100],
      );
    }),
  ],
};
