// Opening and closing: what is refused untouched, and a closed store, whose every method fails the same way.
import { FlushFailed, ImageCorrupt, StorageRefused, StoreClosed } from "../../errors.ts";
import type { SqliteStore } from "../../store/sqlite-store.ts";
import { equal, fails, failsWith, ok } from "../check.ts";
import { everything, observe, order } from "../samples.ts";
import { type Chapter, scenario, scenarioFor } from "../scenario.ts";
import type { Store } from "../stage.ts";

/** A call of every method. The type makes a new method without a row an error. */
const CALLS: { readonly [method in Exclude<keyof SqliteStore, "close">]: (store: Store) => unknown } = {
  load: (store) => store.load("a"),
  loadForEvent: (store) => store.loadForEvent("a", "e"),
  save: (store) => store.save(order("a")),
  commit: (store) => store.commit(order("a"), everything("x")),
  appendTrace: (store) => store.appendTrace("a", {}),
  readTrace: (store) => store.readTrace("a"),
  listExecutions: (store) => store.listExecutions(),
  isProcessed: (store) => store.isProcessed("a", "e"),
  pendingOutbox: (store) => store.pendingOutbox(),
  ackOutbox: (store) => store.ackOutbox(1),
  pendingSpawns: (store) => store.pendingSpawns(),
  ackSpawn: (store) => store.ackSpawn(1),
  dueTimers: (store) => store.dueTimers(1),
  deleteTimer: (store) => store.deleteTimer("a", "p", 1),
  exportDatabase: (store) => store.exportDatabase(),
  verify: (store) => store.verify(),
  subscribe: (store) => store.subscribe(() => {}),
};

/** Foreign databases, and why each is refused. */
const FOREIGN: readonly (readonly [string, string, string])[] = [
  ["a table of ours with other columns", "schema-mismatch", "CREATE TABLE outbox (id INTEGER PRIMARY KEY, body TEXT)"],
  ["a table of ours with one column more", "schema-mismatch", "CREATE TABLE trace (execution_id, idx, entry, more)"],
  [
    "a table of ours with a column of another name",
    "schema-mismatch",
    "CREATE TABLE timers (execution_id TEXT, path TEXT, due REAL)",
  ],
  ["a user_version above 0", "newer-format", "PRAGMA user_version = 7; CREATE TABLE x (y)"],
];

export const closing: Chapter = {
  title: "opening and closing",
  scenarios: [
    scenario("L8 supports says what the adapter says", async ({ target, place }) => {
      const adapter = await place.adapter();
      equal(adapter.supports, target.supports);
      ok(adapter.supports.durable || !adapter.supports.strict, "what outlives a power cut outlives the process");
      equal(typeof adapter.name, "string");
      equal(
        target.store === "SqliteStore" ? adapter.synchronous : true,
        true,
        "SqliteStore needs a synchronous adapter",
      );
      await adapter.close(null);
    }),

    scenario("L5 opening makes the contract's tables and asks for nothing more", async ({ share }) => {
      const { place, open } = await share();
      await open();
      const names = await place.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", 1);
      const ours = ["executions", "outbox", "processed_events", "spawns", "sqlite_sequence", "timers", "trace"];
      equal(names.flat(), ours);
      equal(await place.rows("PRAGMA integrity_check", 1), [["ok"]]);
      equal(await place.rows("PRAGMA user_version", 1), [["0"]]);
    }),

    ...FOREIGN.map(([what, code, sql]) =>
      scenario(`L7 ${what} is refused and left as it is`, async ({ share, faults }) => {
        const { place, open } = await share();
        await place.run(sql);
        const schema = "SELECT group_concat(sql) FROM sqlite_schema";
        const before = await place.rows(schema, 1);
        faults.calls = [];
        await fails(StorageRefused, { code }, () => open());
        equal(faults.appends, 0);
        equal(await place.rows(schema, 1), before);
      }),
    ),

    scenario("L5 tables and rows of other programs in the same file are left alone", async ({ share }) => {
      const { place, open } = await share();
      await place.run("CREATE TABLE theirs (a PRIMARY KEY, b); INSERT INTO theirs VALUES (1, 'x')");
      const store = await open();
      await store.commit(order("a"), everything("x"));
      equal(await place.rows("SELECT a, b FROM theirs", 2), [["1", "x"]]);
    }),

    scenario(
      "L7 an adapter that cannot load, lock or flush fails the opening, and is closed",
      async ({ openFaulty, faults }) => {
        for (const call of ["load", "lock", "append"] as const) {
          const error = new FlushFailed("place", new Error(call));
          faults.failing[call].push(error);
          faults.calls = [];
          await failsWith(error, openFaulty, call);
          equal(faults.calls.filter((one) => one === "close").length, 1, `closed after ${call}`);
          const locks = faults.calls.filter((one) => one === "lock").length;
          const released = faults.calls.filter((one) => one === "release").length;
          equal(released, call === "lock" ? locks - 1 : locks, `released after ${call}`);
        }
        const store = await openFaulty();
        await store.save(order("a"));
        equal((await store.load("a"))?.version, 1);
      },
    ),

    scenario(
      "L8 a closed store fails in every method, and closing again is no error",
      async ({ target, openFaulty, faults }) => {
        const store = await openFaulty();
        await store.commit(order("a"), everything("x"));
        await store.close();
        await store.close();
        const calls = faults.calls.length;
        for (const [method, call] of Object.entries(CALLS)) {
          let started: unknown;
          const start = (): unknown => (started = call(store));
          const message = "the store is closed; open it again to go on";
          await fails(StoreClosed, { code: "store-closed", name: "StoreClosed", message }, start, method);
          // A subscription begins at once, on either store.
          const waits = target.store === "AsyncSqliteStore" && method !== "subscribe";
          if (waits) ok(started instanceof Promise, `${method} rejects and never throws`);
        }
        await store.close();
        equal(faults.calls.length, calls, "the adapter hears nothing more");
        equal(faults.calls.filter((call) => call === "close").length, 1);
      },
    ),

    scenario("L8 a closed store says so first, whatever it was given", async ({ open }) => {
      const store = await open();
      await store.close();
      await fails(StoreClosed, {}, () => store.load("\0"));
      await fails(StoreClosed, {}, () => store.save(null as never));
      await fails(StoreClosed, {}, () => store.listExecutions({ limit: 0 }));
    }),

    scenario(
      "L8 a store that is closed while it reads its arguments says so, and has written nothing",
      async ({ open }) => {
        const closesWhenRead = <T extends object>(store: Store, rest: T, key: string, value: unknown): T => {
          const get = (): unknown => {
            void store.close();
            return value;
          };
          return Object.defineProperty(rest, key, { enumerable: true, get });
        };
        const calls: readonly ((store: Store) => unknown)[] = [
          (store) => store.commit(order("a", { context: closesWhenRead(store, {}, "a", 1) })),
          (store) => store.save(closesWhenRead(store, order("a"), "outcome", null)),
          (store) => store.commit(order("a"), closesWhenRead(store, {}, "trace", {})),
          (store) => store.appendTrace("a", closesWhenRead(store, {}, "a", 1)),
          (store) => store.listExecutions(closesWhenRead(store, {}, "status", "DONE")),
          (store) => store.pendingOutbox(closesWhenRead(store, {}, "limit", 1)),
          (store) => store.verify(closesWhenRead(store, {}, "limit", 1)),
        ];
        for (const [i, call] of calls.entries()) {
          const store = await open();
          await fails(StoreClosed, { code: "store-closed" }, () => call(store), `call ${i}`);
          await store.close();
        }
      },
    ),

    scenario("L8 an asynchronous store rejects bad arguments and never throws them", async ({ target, open }) => {
      const store = await open();
      let started: unknown;
      await fails(Error, { name: "RecordInvalid" }, () => (started = store.load("\0")));
      equal(started instanceof Promise, target.store === "AsyncSqliteStore");
    }),

    ...[false, true].map((newsAsImage) =>
      scenario(
        `L7 a damaged page, told ${newsAsImage ? "as a whole" : "by pages"}, is an ImageCorrupt; what is whole stays readable`,
        async ({ share }) => {
          const { place, open } = await share();
          place.newsAsImage = newsAsImage;
          const store = await open();
          await store.save(order("a", { context: { text: "x".repeat(20_000) } }));
          equal((await store.load("a"))?.version, 1);
          // Its header stays the same: nothing but the news tells that what SQLite has cached is not true any more.
          await place.damage("executions");
          const error = await fails(ImageCorrupt, { code: "image-corrupt" }, () => store.load("a"));
          ok(error.message.includes("is damaged"), error.message);
          equal(await store.pendingOutbox(), []);
        },
      ),
    ),

    scenarioFor(["durable"], "L2 what was committed is there after closing and opening again", async ({ open }) => {
      const first = await open();
      const exe = order("a", { context: { text: "ü".repeat(10_000) } });
      await first.commit(exe, everything("x"));
      await first.commit(exe, everything("y"));
      await first.appendTrace("b", { alone: true });
      const before = await observe(first, ["b"]);
      await first.close();
      const second = await open();
      equal(await observe(second, ["b"]), before);
      equal(await second.isProcessed("a", "handled-x"), true);
      await second.commit(exe, {});
      equal(exe.version, 3);
    }),

    scenarioFor(
      ["durable", "shared"],
      "L5 a place opens after pages were taken and given back, closed or not",
      async ({ open }) => {
        const first = await open();
        const timer = { path: "p".repeat(60_000), fire_at: 1 };
        const timers = [
          { op: "schedule" as const, ...timer },
          { op: "cancel" as const, path: timer.path },
        ];
        await first.commit(order("a"), { timers });
        const second = await open();
        equal(await observe(second), await observe(first));
        await second.close();
        await first.close();
        equal((await (await open()).load("a"))?.version, 1);
      },
    ),

    scenarioFor(
      ["durable"],
      "L2 opening and closing without writing changes nothing",
      async ({ open, openFaulty, faults }) => {
        const first = await open();
        await first.save(order("a"));
        await first.close();
        for (let times = 0; times < 3; times++) {
          const store = await openFaulty();
          equal((await store.load("a"))?.version, 1);
          await store.close();
        }
        equal(faults.appends, 0);
      },
    ),
  ],
};
