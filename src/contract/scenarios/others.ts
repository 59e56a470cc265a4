// Other writers: other stores and other programs on the same place. Catching up, conflicts, fencing.
import { Fenced, StoreConflict } from "../../errors.ts";
import { equal, fails } from "../check.ts";
import { everything, observe, order } from "../samples.ts";
import { type Chapter, scenario, scenarioFor } from "../scenario.ts";
import type { Store } from "../stage.ts";

/** Adds 1 to `n` of Execution "a", loading it anew as long as somebody was faster. */
async function increment(store: Store): Promise<void> {
  for (;;) {
    const exe = (await store.load("a"))!;
    exe.context["n"] = (exe.context["n"] as number) + 1;
    try {
      await store.commit(exe, { trace: { n: exe.context["n"] } });
      return;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
  }
}

async function race(stores: readonly Store[], each: number): Promise<void> {
  const worker = async (store: Store): Promise<void> => {
    for (let i = 0; i < each; i++) await increment(store);
  };
  await Promise.all(stores.map(worker));
}

export const others: Chapter = {
  title: "other writers",
  scenarios: [
    ...[false, true].flatMap((newsAsImage) => [
      scenario(
        `L4 a read sees what others committed, told ${newsAsImage ? "as a whole" : "by pages"}`,
        async ({ share }) => {
          const { place, open } = await share();
          place.newsAsImage = newsAsImage;
          const [mine, theirs] = [await open(), await open()];
          const exe = order("a");
          for (const tag of ["x", "y", "z"]) {
            await theirs.commit(exe, everything(tag));
            equal((await mine.load("a"))?.version, exe.version);
            equal(await observe(mine), await observe(theirs));
            equal(await mine.isProcessed("a", `handled-${tag}`), true);
          }
          await mine.commit((await mine.load("a"))!, everything("mine"));
          equal(await theirs.loadForEvent("a", "handled-mine"), [await mine.load("a"), true]);
        },
      ),

      scenario(
        `L4 a commit catches up first: no lost update, told ${newsAsImage ? "as a whole" : "by pages"}`,
        async ({ share }) => {
          const { place, open } = await share();
          place.newsAsImage = newsAsImage;
          const [mine, theirs] = [await open(), await open()];
          await mine.save(order("a"));
          const [first, second] = [(await mine.load("a"))!, (await theirs.load("a"))!];
          await theirs.commit(second, everything("theirs"));
          const message = "stale write to a: expected version 1, found 2";
          await fails(StoreConflict, { message, expected: 1, found: 2 }, () => mine.commit(first, everything("mine")));
          equal(first.version, 1);
          equal(await mine.isProcessed("a", "handled-mine"), false);
          // Seqs go on after the other's.
          await mine.commit((await mine.load("a"))!, everything("again"));
          equal(
            (await theirs.pendingOutbox()).map(({ seq, target_id }) => [seq, target_id]),
            [
              [1, "to-theirs"],
              [2, "to-again"],
            ],
          );
          equal(await place.rows("PRAGMA integrity_check", 1), [["ok"]]);
        },
      ),
    ]),

    scenario("L4 what another program does with SQL is seen, changes of the schema too", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await store.commit(order("a"), everything("x"));
      await place.run("DELETE FROM outbox; UPDATE timers SET fire_at = 99");
      equal(await store.pendingOutbox(), []);
      equal((await store.dueTimers(99))[0]?.fire_at, 99);
      await place.run(
        "CREATE INDEX theirs ON executions (version); CREATE TABLE other (x); INSERT INTO other VALUES (1)",
      );
      await store.commit((await store.load("a"))!, everything("y"));
      await place.run("DROP INDEX theirs; DROP TABLE other");
      equal((await store.load("a"))?.version, 2);
      await store.save((await store.load("a"))!);
      equal(await place.rows("PRAGMA integrity_check", 1), [["ok"]]);
    }),

    scenario("L4 a place that another program shrank is caught up with", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      for (let i = 0; i < 20; i++) await store.save(order(`${i}`, { context: { text: "x".repeat(10_000) } }));
      await place.run("DELETE FROM executions WHERE id <> '7'");
      equal(
        (await store.listExecutions()).items.map(({ id }) => id),
        ["7"],
      );
      for (let i = 30; i < 50; i++) await store.save(order(`${i}`, { context: { text: "y".repeat(10_000) } }));
      equal((await store.listExecutions()).items.length, 21);
      equal(await place.rows("PRAGMA integrity_check", 1), [["ok"]]);
    }),

    scenario("L5 pages taken and given back in one transaction leave a whole database", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const path = "p".repeat(60_000);
      const timers = [
        { op: "schedule" as const, path, fire_at: 1 },
        { op: "cancel" as const, path },
      ];
      for (let i = 0; i < 3; i++) {
        // SQLite never writes a page that it took and no longer needs; it is there all the same.
        await store.commit(order(`${i}`), { timers });
        equal(await observe(await open()), await observe(store));
      }
      await store.save(order("big", { context: { text: "x".repeat(100_000) } }));
      equal(await observe(await open()), await observe(store));
      equal(await place.rows("PRAGMA integrity_check", 1), [["ok"]]);
    }),

    scenario(
      "L4 a writer that lost its right is fenced, takes in what came first, and writes then",
      async ({ share, faults }) => {
        const { place, open } = await share();
        const store = await open();
        const exe = order("a");
        await store.save(exe);
        faults.calls = [];
        place.stealNext(1);
        await store.commit(exe, everything("x"));
        equal(exe.version, 2);
        equal((await store.pendingOutbox()).length, 1);
        equal((await store.readTrace("a")).length, 1);
        equal(faults.calls.filter((call) => call === "lock").length, 2, "the lease is taken anew");
      },
    ),

    scenario("L4 a writer that is fenced again and again is told, and its commit never was", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const exe = order("a");
      await store.save(exe);
      const before = await observe(store);
      place.stealNext(4);
      const message = `another writer appended to ${place.name} first; nothing was written, try again`;
      await fails(Fenced, { code: "fenced", message }, () => store.commit(exe, everything("x")));
      equal(exe.version, 1);
      equal(await observe(store), before);
      await store.commit(exe, everything("x"));
      equal(exe.version, 2);
    }),

    scenario("L4 stores that race for one Execution lose no update", async ({ share }) => {
      const { open } = await share();
      const stores = [await open(), await open(), await open()];
      await stores[0]!.save(order("a", { context: { n: 0 } }));
      await race(stores, 10);
      for (const store of stores) {
        const exe = await store.load("a");
        equal([exe?.context["n"], exe?.version], [30, 31]);
        equal(
          (await store.readTrace("a")).map(({ index, n }) => [index, n]),
          Array.from({ length: 30 }, (_, i) => [i, i + 1]),
        );
      }
    }),

    scenarioFor(
      ["shared"],
      "L4 the adapter's own way: stores that race for one Execution lose no update",
      async ({ open }) => {
        const stores = [await open(), await open(), await open()];
        await stores[0]!.save(order("a", { context: { n: 0 } }));
        await race(stores, 10);
        for (const store of stores) {
          const exe = await store.load("a");
          equal([exe?.context["n"], exe?.version], [30, 31]);
          equal((await store.readTrace("a")).length, 30);
        }
        await stores[1]!.close();
        await race([stores[0]!, stores[2]!], 5);
        equal((await (await open()).load("a"))?.version, 41);
      },
    ),

    scenarioFor(
      ["shared"],
      "L3 the adapter's own way: what one store committed the next read of another sees",
      async ({ open }) => {
        const [mine, theirs] = [await open(), await open()];
        const exe = order("a");
        for (const tag of ["x", "y", "z"]) {
          await theirs.commit(exe, everything(tag));
          equal(await observe(mine), await observe(theirs));
        }
        const stale = order("a");
        await fails(StoreConflict, { expected: 0, found: 3 }, () => mine.commit(stale, everything("w")));
      },
    ),

    scenarioFor(
      ["shared"],
      "L1 the adapter's own way: two stores opening a new place at once make one database",
      async ({ open }) => {
        const stores = await Promise.all([open(), open(), open()]);
        for (const [i, store] of stores.entries()) await store.save(order(`${i}`));
        for (const store of stores) equal((await store.listExecutions()).items.length, 3);
      },
    ),
  ],
};
