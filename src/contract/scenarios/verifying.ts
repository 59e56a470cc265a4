// `verify`: nothing to tell of a sound store; of any other one, what is wrong and where, as data and without a value of
// the user's.
import { FlushFailed, ImageCorrupt } from "../../errors.ts";
import type { Problem } from "../../port.ts";
import { equal, fails, failsWith, ok } from "../check.ts";
import { everything, observe, order, range } from "../samples.ts";
import { type Chapter, scenario, scenarioFor } from "../scenario.ts";

/** What another program may have written, and what is told of it. */
const FAULTS: readonly (readonly [what: string, sql: string, expected: Partial<Problem>])[] = [
  [
    "text and column with another version",
    "UPDATE executions SET version = 9 WHERE id = 'a'",
    { kind: "version", where: "executions", id: "a" },
  ],
  [
    "text and column with another id",
    "UPDATE executions SET id = 'b' WHERE id = 'a'",
    { kind: "version", where: "executions", id: "b" },
  ],
  [
    "text that is no JSON",
    "UPDATE executions SET data = 'secret-4711' WHERE id = 'a'",
    { kind: "record", where: "executions", id: "a" },
  ],
  [
    "a number beyond JavaScript's",
    `UPDATE executions SET data = json_set(data, '$.context.n', 123456789012345678) WHERE id = 'a'`,
    { kind: "record", where: "executions", id: "a" },
  ],
  [
    "bytes where text belongs",
    "UPDATE executions SET definition_id = x'734711' WHERE id = 'a'",
    { kind: "row", where: "executions", id: "a", problem: "definition_id is blob" },
  ],
  [
    "an event that is none",
    `UPDATE outbox SET event = '{"kind":4711}' WHERE seq = 1`,
    { kind: "record", where: "outbox", id: "to-x", row: 1 },
  ],
  [
    "a context that is none",
    "UPDATE spawns SET context = '[4711]' WHERE seq = 1",
    { kind: "record", where: "spawns", id: "a", row: 1 },
  ],
  [
    "an instant that is none",
    "UPDATE timers SET fire_at = 9e999",
    { kind: "row", where: "timers", id: "a", problem: "fire_at is no instant" },
  ],
  [
    "text where an instant belongs",
    "UPDATE timers SET fire_at = 'secret-4711'",
    { kind: "row", where: "timers", id: "a", problem: "fire_at is text" },
  ],
  [
    "bytes for a marker",
    "UPDATE processed_events SET event_id = x'4711'",
    { kind: "row", where: "processed_events", id: "a", problem: "event_id is blob" },
  ],
  [
    "text that is not UTF-8",
    "UPDATE spawns SET root_path = CAST(x'ff4711' AS TEXT)",
    { kind: "row", where: "spawns", id: "a" },
  ],
  [
    "a step taken out of the trace",
    "DELETE FROM trace WHERE idx = 1",
    { kind: "trace", where: "trace", id: "a", row: 2 },
  ],
  ["a step that is none", "UPDATE trace SET entry = '4711' WHERE idx = 2", { kind: "record", id: "a", row: 2 }],
  ["an index that is gone", "DROP INDEX perdure_timers_due", { kind: "schema", where: "perdure_timers_due" }],
  ["a table that is gone", "DROP TABLE timers", { kind: "schema", where: "timers", problem: "is missing" }],
];

export const verifying: Chapter = {
  title: "verifying",
  scenarios: [
    scenario("L7 a sound store has no problems, and verifying changes nothing", async ({ openFaulty, faults }) => {
      const store = await openFaulty({ traceMax: 3 });
      equal(await store.verify(), []);
      const exe = order("a", { context: { text: "x".repeat(20_000) } });
      for (const i of range(5)) await store.commit(exe, everything(`${i}`));
      await store.appendTrace("b", { alone: true });
      const before = await observe(store, ["b"]);
      const { appends } = faults;
      equal(await store.verify(), []);
      equal(faults.appends, appends);
      equal(await observe(store, ["b"]), before);
    }),

    ...FAULTS.map(([what, sql, expected]) =>
      scenario(`L7 ${what} is told with its place, and no value`, async ({ share }) => {
        const { place, open } = await share();
        const store = await open();
        const exe = order("a", { context: { note: "secret-4711" } });
        await store.commit(exe, everything("x"));
        for (const step of range(2)) await store.appendTrace("a", { step });
        await place.run(sql);
        const problems = await store.verify();
        const [problem] = problems.filter(({ kind }) => kind === expected.kind);
        for (const [key, value] of Object.entries(expected)) equal(problem?.[key as keyof Problem], value, key);
        ok(!JSON.stringify(problems).includes("4711"), `no value of the user's: ${JSON.stringify(problems)}`);
      }),
    ),

    scenario("L7 a damaged page is told, and the tables that are whole are looked at", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await store.commit(order("a", { context: { text: "x".repeat(20_000) } }), everything("x"));
      await place.run("UPDATE timers SET fire_at = 9e999");
      await place.damage("executions");
      const problems = await store.verify();
      ok(
        problems.some(({ kind }) => kind === "sqlite"),
        "SQLite's own check says so",
      );
      ok(
        problems.some(({ where, kind }) => kind === "row" && where === "timers"),
        "the timers were looked at",
      );
      const error = await fails(ImageCorrupt, { code: "image-corrupt" }, () => store.load("a"));
      equal(error.place, place.name);
    }),

    scenario("L7 a table that only another program's SQLite can look at hides nothing of ours", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await store.commit(order("a"), everything("x"));
      const theirs = "'table', 'theirs', 'theirs', 0, 'CREATE VIRTUAL TABLE theirs USING nowhere(x)'";
      await place.run(`PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES (${theirs})`);
      equal(await store.verify(), []);
      await place.run("UPDATE timers SET fire_at = 9e999");
      equal(
        (await store.verify()).map(({ where }) => where),
        ["timers"],
      );
    }),

    scenario("L7 no more problems are told than asked for", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      for (const i of range(5)) await store.save(order(`${i}`));
      await place.run("UPDATE executions SET version = 9");
      equal((await store.verify()).length, 5);
      equal((await store.verify({ limit: 2 })).length, 2);
      await fails(Error, { name: "RecordInvalid" }, () => store.verify({ limit: 0 }));
    }),

    scenario("L7 a page that nothing leads to is told, however many problems are asked for", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await place.run("CREATE TABLE theirs (x)");
      await place.run("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'theirs'");
      const found = await store.verify();
      equal([found.length, found[0]?.kind, typeof found[0]?.page], [1, "sqlite", "number"]);
      equal(await store.verify({ limit: Number.MAX_SAFE_INTEGER }), found);
    }),

    scenario("L4 verifying needs the lease, and without it is no answer", async ({ openFaulty, faults }) => {
      const store = await openFaulty();
      const busy = new FlushFailed("place", null);
      faults.failing.lock.push(busy);
      await failsWith(busy, () => store.verify());
      equal(await store.verify(), []);
      equal(
        faults.calls.filter((call) => call === "lock").length - 1,
        faults.calls.filter((call) => call === "release").length,
      );
    }),

    scenarioFor(["durable"], "L7 what was written, closed and opened again has no problems", async ({ open }) => {
      const first = await open();
      const exe = order("a");
      for (const i of range(20)) await first.commit(exe, everything(`${i}`));
      equal(await first.verify(), []);
      await first.close();
      const second = await open();
      equal(await second.verify(), []);
      await second.commit(exe, everything("last"));
      equal(await second.verify(), []);
    }),
  ],
};
