// Those who watch a store, and its database taken out as a file.
import { FlushFailed, RecordInvalid, StoreConflict } from "../../errors.ts";
import { CHUNK_BYTES, type Position, type SyncAdapter } from "../../port.ts";
import { SqliteStore } from "../../store/sqlite-store.ts";
import type { StoreChange } from "../../store/subscribers.ts";
import { equal, fails, ok } from "../check.ts";
import { everything, kept, observe, order, range } from "../samples.ts";
import { asyncScenario, type Chapter, scenario, scenarioFor } from "../scenario.ts";
import type { AsyncSqliteStore } from "../../store/async-sqlite-store.ts";
import type { Store } from "../stage.ts";

const ALL_KINDS = ["executions", "outbox", "processed_events", "timers", "spawns", "trace"] as const;

/** What a store tells, written down. */
function watched(store: Store): StoreChange[] {
  const seen: StoreChange[] = [];
  store.subscribe((change) => seen.push(change));
  return seen;
}

/** A database file as a place that keeps nothing. */
function fileInMemory(file: Uint8Array): SyncAdapter {
  const pageSize = new DataView(file.buffer, file.byteOffset).getUint16(16);
  const chunks = range(Math.ceil(file.length / CHUNK_BYTES)).map((i) => {
    const chunk = new Uint8Array(CHUNK_BYTES);
    chunk.set(file.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES));
    return chunk;
  });
  const position: Position = { adapter: "export" };
  return {
    synchronous: true,
    name: "export",
    place: "export",
    supports: { durable: false, shared: false, strict: false },
    load: () => ({ pageSize, pageCount: file.length / pageSize, chunks, position }),
    pull: () => null,
    lock: () => () => {},
    append: () => position,
    checkpoint: () => {},
    close: () => {},
  };
}

export const watching: Chapter = {
  title: "watching, and taking the database out",
  scenarios: [
    scenario("L3 a subscriber is told what changed once it is durable", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const seen = watched(store);
      const exe = order("a");
      await store.commit(exe, everything("x"));
      await store.save(exe);
      await store.appendTrace("a", {});
      await store.ackOutbox(1);
      await store.ackSpawn(1);
      await store.deleteTimer("a", "Wait.x", 12.5);
      equal(seen, [
        { origin: "local", kinds: ALL_KINDS, executionIds: ["a"] },
        { origin: "local", kinds: ["executions"], executionIds: ["a"] },
        { origin: "local", kinds: ["trace"], executionIds: ["a"] },
        { origin: "local", kinds: ["outbox"], executionIds: null },
        { origin: "local", kinds: ["spawns"], executionIds: null },
        { origin: "local", kinds: ["timers"], executionIds: ["a"] },
      ]);
      equal(faults.appends, 7, "flushes, the first of them of the schema");
    }),

    scenario("L3 reads and what did not happen are not told", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const exe = order("a");
      await store.save(exe);
      const seen = watched(store);
      await observe(store);
      await store.isProcessed("a", "e");
      await fails(StoreConflict, {}, () => store.save(order("a")));
      faults.failing.append.push(new FlushFailed("here", new Error("no")));
      await fails(FlushFailed, {}, () => store.save(exe));
      equal(seen, []);
      await store.save(exe);
      equal(seen.length, 1);
    }),

    scenario("L3 who is told reads what it was told of", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      const versions: Promise<number | undefined>[] = [];
      store.subscribe(() => versions.push(Promise.resolve(store.load("a")).then((found) => found?.version)));
      await store.save(exe);
      await store.save(exe);
      equal(await Promise.all(versions), [1, 2]);
    }),

    scenario("a subscription ends by itself, by its signal, and with the store", async ({ open }) => {
      const store = await open();
      const seen: string[] = [];
      const controller = new AbortController();
      const end = store.subscribe(() => seen.push("first"));
      store.subscribe(() => seen.push("second"), { signal: controller.signal });
      store.subscribe(() => seen.push("never"), { signal: AbortSignal.abort() });
      store.subscribe(() => seen.push("third"));
      const exe = order("a");
      await store.save(exe);
      end();
      end();
      await store.save(exe);
      controller.abort();
      await store.save(exe);
      equal(seen, ["first", "second", "third", "second", "third", "third"]);
      await store.close();
      equal(seen.length, 6);
    }),

    scenario("one function may listen twice, and end one of the two", async ({ open }) => {
      const store = await open();
      let told = 0;
      const listener = (): void => {
        told++;
      };
      const end = store.subscribe(listener);
      store.subscribe(listener);
      const exe = order("a");
      await store.save(exe);
      equal(told, 2);
      end();
      await store.save(exe);
      equal(told, 3);
    }),

    scenario("what is no listener or no option is refused", async ({ open }) => {
      const store = await open();
      const nothing = "x" as unknown as () => void;
      await fails(RecordInvalid, { path: ["listener"] }, () => store.subscribe(nothing));
      const odd = { signal: "x" as unknown as AbortSignal };
      await fails(RecordInvalid, { path: ["options", "signal"] }, () => store.subscribe(() => {}, odd));
    }),

    scenario("L4 what others committed is told when it is seen", async ({ share }) => {
      const { open } = await share();
      const [mine, theirs] = [await open(), await open()];
      const seen = watched(mine);
      await theirs.save(order("a"));
      await mine.load("a");
      await mine.load("a");
      equal(seen, [{ origin: "remote", kinds: ALL_KINDS, executionIds: null }]);
      const exe = (await theirs.load("a"))!;
      await theirs.save(exe);
      await mine.save(order("b"));
      equal(
        seen.slice(1).map(({ origin }) => origin),
        ["remote", "local"],
      );
    }),

    scenarioFor(["shared"], "L4 the adapter's own way: a subscriber hears of other stores", async ({ open }) => {
      const [mine, theirs] = [await open(), await open()];
      const told = new Promise<StoreChange>((resolve) => {
        mine.subscribe((change) => {
          if (change.origin === "remote") resolve(change);
        });
      });
      await theirs.commit(order("a"), everything("x"));
      // Some adapters tell by themselves, others when a read comes upon it.
      equal((await mine.load("a"))?.version, 1);
      const { kinds, executionIds } = await told;
      equal(kinds, ALL_KINDS);
      ok(executionIds === null || executionIds.includes("a"), "it names the Execution or any");
    }),

    scenario("L5 an exported database holds everything, and takes no part in what comes later", async ({ open }) => {
      const store = await open();
      for (const i of range(30)) await store.commit(order(`${i}`), everything(`${i}`));
      const file = await store.exportDatabase();
      const before = await observe(store);
      await store.commit((await store.load("0"))!, everything("later"));
      equal(new TextDecoder().decode(file.subarray(0, 15)), "SQLite format 3");
      equal([file[18], file[19]], [1, 1], "rollback mode: it needs no log beside it");
      const copy = await SqliteStore.create(fileInMemory(file));
      equal(await observe(copy), before);
      copy.close();
    }),
  ],
};

/** With calls in flight together. */
export const watchingInFlight: Chapter<AsyncSqliteStore> = {
  title: "watching calls in flight",
  scenarios: [
    asyncScenario("L3 a group is told as one change, without those of it that failed", async ({ open }) => {
      const store = await open();
      await store.save(order("a"));
      const seen = watched(store);
      const saves = [store.save(order("b")), store.save(order("a")), store.appendTrace("c", {})];
      equal(await kept(saves), [true, false, true]);
      equal(seen, [{ origin: "local", kinds: ["executions", "trace"], executionIds: ["b", "c"] }]);
    }),

    asyncScenario("L1 an export among other calls holds what was called before it, and no more", async ({ open }) => {
      const store = await open();
      const calls = [store.save(order("a")), store.exportDatabase(), store.save(order("b"))] as const;
      const [, file] = await Promise.all(calls);
      const copy = await SqliteStore.create(fileInMemory(file));
      equal(
        copy.listExecutions().items.map(({ id }) => id),
        ["a"],
      );
      copy.close();
    }),
  ],
};
