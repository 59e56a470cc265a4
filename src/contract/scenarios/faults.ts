// Storage that fails: the commit is undone in memory and in storage, the error reaches the caller, the store goes on.
import { Fenced, FlushFailed, StoreBusy } from "../../errors.ts";
import { equal, failsWith, ok } from "../check.ts";
import { everything, observe, order, range } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";
import type { Store } from "../stage.ts";

/** Errors an adapter may throw, of ours and of others. */
const ERRORS: readonly (readonly [string, () => Error])[] = [
  ["a flush that fails", () => new FlushFailed("place", Object.assign(new Error("EIO"), { code: "EIO" }))],
  ["no space left", () => new FlushFailed("place", Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }))],
  ["a writer that was fenced", () => new Fenced("place")],
  ["an error that is not ours", () => new TypeError("a bug in an adapter")],
];

/** Every operation that writes, on a store that holds `everything("x")` of Execution "a". */
const WRITES: { readonly [method: string]: (store: Store) => unknown } = {
  save: (store) => store.save(order("saved")),
  commit: (store) => store.commit(order("new"), everything("new")),
  appendTrace: (store) => store.appendTrace("a", { more: true }),
  ackOutbox: (store) => store.ackOutbox(1),
  ackSpawn: (store) => store.ackSpawn(1),
  deleteTimer: (store) => store.deleteTimer("a", "Wait.x", 12.5),
};

export const faults: Chapter = {
  title: "faults",
  scenarios: [
    ...ERRORS.map(([what, make]) =>
      scenario(
        `L1 ${what} undoes the commit and reaches the caller as it is`,
        async ({ openFaulty, faults: adapter }) => {
          const store = await openFaulty();
          const exe = order("a");
          await store.commit(exe, everything("x"));
          const before = await observe(store);
          for (let times = 0; times < 3; times++) {
            const error = make();
            // A fence is met by running again, on what others wrote, until there have been too many.
            for (const _ of range(error instanceof Fenced ? 4 : 1)) adapter.failing.append.push(error);
            exe.context["lost"] = "y".repeat(9_000);
            await failsWith(error, () => store.commit(exe, everything("lost")));
            equal(exe.version, 1);
            equal(await observe(store), before, "after the failure");
            equal(await store.isProcessed("a", "handled-lost"), false);
          }
          exe.context = {};
          await store.commit(exe, everything("y"));
          equal(exe.version, 2);
          const after = await observe(store);
          equal([after.outbox.length, after.spawns.length, after.traces[0]?.length], [2, 2, 2]);
          const seqs = (await store.pendingOutbox()).map(({ seq }) => seq);
          equal(seqs, [1, 2], "a commit that never was used up no seq");
        },
      ),
    ),

    scenario(
      "L1 every operation that writes is undone when its flush fails",
      async ({ openFaulty, faults: adapter }) => {
        const store = await openFaulty();
        await store.commit(order("a"), everything("x"));
        const before = await observe(store, ["new", "saved"]);
        for (const [method, write] of Object.entries(WRITES)) {
          const error = new FlushFailed("place", new Error(method));
          adapter.failing.append.push(error);
          await failsWith(error, () => write(store), method);
          equal(await observe(store, ["new", "saved"]), before, `after ${method}`);
        }
        for (const write of Object.values(WRITES)) await write(store);
        const after = await observe(store, ["new", "saved"]);
        equal(after.executions.length, 3);
        equal(
          after.timers.map(({ path }) => path),
          ["Wait.new"],
        );
      },
    ),

    scenario(
      "L1 a flush that fails after the image grew and moved leaves a whole database",
      async ({ share, faults: adapter }) => {
        const { place, open } = await share();
        const store = await open();
        for (let i = 0; i < 30; i++) await store.save(order(`row ${i}`, { context: { text: "z".repeat(i * 300) } }));
        const before = await observe(store);
        for (let round = 0; round < 5; round++) {
          const error = new FlushFailed("place", new Error("injected"));
          adapter.failing.append.push(error);
          const big = order("big", { context: { text: "w".repeat(40_000 * (round + 1)) } });
          await failsWith(error, () => store.commit(big, everything("big")));
          const exe = (await store.load(`row ${round}`))!;
          exe.context = { text: "v".repeat(20_000) };
          adapter.failing.append.push(error);
          await failsWith(error, () => store.save(exe));
        }
        equal(await observe(store), before);
        await store.save(order("after", { context: { text: "u".repeat(50_000) } }));
        equal(await place.rows("PRAGMA integrity_check", 1), [["ok"]]);
        equal(await place.rows("SELECT count(*) FROM executions", 1), [["31"]]);
        // A store that loads the place sees the same.
        equal(await observe(await open()), await observe(store));
      },
    ),

    scenario(
      "L4 a lease that is not to be had is StoreBusy: nothing is written, reads go on",
      async ({ openFaulty, faults: adapter }) => {
        const store = await openFaulty();
        const exe = order("a");
        await store.save(exe);
        const error = new StoreBusy("place", 5000, "somebody");
        equal([error.code, error.holder], ["store-busy", "somebody"]);
        adapter.failing.lock.push(error);
        // An asynchronous store may still be giving the lease back: a read has its turn after that.
        await store.load("a");
        adapter.calls = [];
        await failsWith(error, () => store.commit(exe, everything("x")));
        equal(exe.version, 1);
        ok(
          !adapter.calls.includes("append") && !adapter.calls.includes("release"),
          "nothing was written, nothing released",
        );
        equal((await store.load("a"))?.version, 1);
        await store.commit(exe, everything("x"));
        equal(exe.version, 2);
      },
    ),

    scenario(
      "L7 catching up that fails is an error of the call, not a stale answer",
      async ({ openFaulty, faults: adapter }) => {
        const store = await openFaulty();
        const exe = order("a");
        await store.save(exe);
        const error = new FlushFailed("place", new Error("unreadable"));
        adapter.failing.pull.push(error);
        await failsWith(error, () => store.load("a"), "read");
        adapter.failing.pull.push(error);
        adapter.calls = [];
        await failsWith(error, () => store.save(exe), "write");
        equal(adapter.calls, ["lock", "pull", "release"], "the lease is given back");
        equal(exe.version, 1);
        await store.save(exe);
        equal((await store.load("a"))?.version, 2);
      },
    ),

    scenario("L4 the store keeps the rules of the port", async ({ openFaulty, faults: adapter }) => {
      const store = await openFaulty();
      const exe = order("a");
      const wrote = ["lock", "pull", "append", "checkpoint", "release"];
      const calls: [() => unknown, string[]][] = [
        [() => store.save(exe), wrote],
        [() => store.commit(exe, everything("x")), wrote],
        [() => store.load("a"), ["pull"]],
        [() => store.dueTimers(1), ["pull"]],
        [() => store.ackOutbox(1), wrote],
        [() => store.ackOutbox(1), ["lock", "pull", "release"]],
        [() => store.close(), ["close"]],
      ];
      for (const [call] of calls) await call();
      equal(adapter.calls, ["load", ...wrote, ...calls.flatMap(([, expected]) => expected)]);
    }),
  ],
};
