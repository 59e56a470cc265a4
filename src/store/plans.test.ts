// What SQLite makes of our statements: each is answered from an index or a primary key, so no call gets slower as the
// database grows (L6). And the status that the index computes by cutting text is the status that parsing finds.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Database } from "../engine/database.ts";
import { startEngine } from "../engine/engine.ts";
import { emptyImage } from "../engine/testing.ts";
import { encodeExecution, newExecution } from "../records/codec.ts";
import type { Json } from "../records/json.ts";
import { type ExecutionSummary, STATUSES } from "../records/structs.ts";
import { INDEXES, SCHEMA, STATEMENTS, STATUS } from "../sql.ts";
import { type ListOptions, makePage, planListing } from "./listing.ts";

let db: Database;
beforeAll(async () => {
  db = new Database(await startEngine(), emptyImage());
  for (const sql of [...SCHEMA, ...INDEXES]) db.exec(sql);
});
afterAll(() => db.close());

/** Steps that only hold others together. */
const FRAMES = /^(MERGE \(UNION ALL\)|LEFT|RIGHT|SCALAR SUBQUERY \d+)$/;

/** The steps of SQLite's plan that read or sort; of several arms merged in order, those of each. */
function plan(sql: string): string[] {
  const statement = db.prepare(`EXPLAIN QUERY PLAN ${sql}`);
  const steps = statement.all([], (step) => step.text(3) ?? "");
  db.discard(statement);
  return steps.filter((step) => !FRAMES.test(step));
}

/** A cursor that leads past a row. */
const row: ExecutionSummary = {
  ...{ id: "x", definition_id: "d", status: "DONE", outcome: null, active_path: null, version: 1, parent_id: null },
};
const cursor = makePage([row, row], 1).nextCursor;

const search = (table: string, index: string, terms: string): string => `SEARCH ${table} USING ${index} (${terms})`;
const byId = (terms: string): string => search("executions", "INDEX sqlite_autoindex_executions_1", terms);
const byStatus = (terms: string): string => search("executions", "INDEX perdure_executions_status", terms);
const byDefinition = (terms: string): string => search("executions", "INDEX perdure_executions_definition", terms);
const MARKER = search(
  "processed_events",
  "COVERING INDEX sqlite_autoindex_processed_events_1",
  "execution_id=? AND event_id=?",
);
const TIMER = search("timers", "INDEX sqlite_autoindex_timers_1", "execution_id=? AND path=?");
const trace = (terms: string, covering = ""): string =>
  search("trace", `${covering}INDEX sqlite_autoindex_trace_1`, terms);

describe("plans of statements", () => {
  test.each<[keyof typeof STATEMENTS, readonly string[]]>([
    ["load", [byId("id=?")]],
    ["version", [byId("id=?")]],
    ["update", [byId("id=?")]],
    ["loadForEvent", ["SCAN CONSTANT ROW", byId("id=?"), MARKER]],
    ["isProcessed", [MARKER]],
    ["readTrace", [trace("execution_id=?")]],
    ["lastTrace", [trace("execution_id=?", "COVERING ")]],
    ["trimTrace", [trace("execution_id=? AND idx<?")]],
    ["dueTimers", [search("timers", "INDEX perdure_timers_due", "fire_at<?")]],
    ["cancel", [TIMER]],
    ["deleteTimer", [TIMER]],
    ["ackOutbox", [search("outbox", "INTEGER PRIMARY KEY", "rowid=?")]],
    ["ackSpawn", [search("spawns", "INTEGER PRIMARY KEY", "rowid=?")]],
    // From the oldest on, up to the limit: in the order of the table, so nothing is sorted.
    ["pendingOutbox", ["SCAN outbox"]],
    ["pendingSpawns", ["SCAN spawns"]],
  ])("L6 %s", (name, steps) => {
    expect(plan(STATEMENTS[name])).toEqual(steps);
  });

  test("L6 a statement that inserts looks nothing up and builds no temporary table", () => {
    for (const name of ["insert", "emit", "mark", "spawn", "schedule", "trace"] as const) {
      expect(plan(STATEMENTS[name]), name).toEqual([]);
    }
  });
});

describe("plans of listings: in the order of ids, without sorting", () => {
  const statuses = ["DONE", "FAILED", "RUNNING"] as const;
  const thrice = (step: string): string[] => [step, step, step];

  test.each<[string, ListOptions, readonly string[]]>([
    ["everything", {}, ["SCAN executions USING INDEX sqlite_autoindex_executions_1"]],
    ["everything, the next page", { cursor }, [byId("id>?")]],
    // No index of its own: whoever has a parent is passed over.
    ["roots", { rootsOnly: true }, ["SCAN executions USING INDEX sqlite_autoindex_executions_1"]],
    ["roots, the next page", { rootsOnly: true, cursor }, [byId("id>?")]],
    ["a status", { status: "DONE" }, [byStatus("<expr>=?")]],
    ["a status, the next page", { status: "DONE", cursor }, [byStatus("<expr>=? AND id>?")]],
    ["several statuses", { status: statuses }, thrice(byStatus("<expr>=?"))],
    ["several statuses, the next page", { status: statuses, cursor }, thrice(byStatus("<expr>=? AND id>?"))],
    ["all filters", { status: statuses, definitionId: "d", rootsOnly: true }, thrice(byStatus("<expr>=?"))],
    ["a definition", { definitionId: "d" }, [byDefinition("definition_id=?")]],
    ["a definition, the next page", { definitionId: "d", cursor }, [byDefinition("definition_id=? AND id>?")]],
  ])("L6 %s", (_, options, steps) => {
    expect(plan(planListing(options)!.sql)).toEqual(steps);
  });
});

test("L6 sorted statements have no bare parameters, for which SQLite would compile them anew each time", () => {
  const filters = planListing({ status: ["DONE", "FAILED"], definitionId: "d", rootsOnly: true, cursor })!;
  const sorted = [...Object.values(STATEMENTS), filters.sql, filters.guardedSql].filter((sql) =>
    /ORDER BY|MAX\(/.test(sql),
  );
  expect(sorted).toHaveLength(7);
  for (const sql of sorted) {
    expect(sql).toContain("+?");
    expect(sql).not.toMatch(/[^+]\?/);
  }
});

/** Text that could be taken for structure. */
const oddText = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...STATUSES) },
  fc.constantFrom(
    ',"status":"X',
    '","status":"X',
    '{"status":"X"}',
    "status",
    "\\",
    '\\"',
    '"',
    "{",
    "}",
    "",
    "\0",
    "é😀",
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
);

/** Arguments of `JSON.stringify` do not reach this far: spaces anywhere, and characters written as escapes. */
const space = fc.constantFrom("", "", "", " ", "\n\t");
const escaped = (text: string): string =>
  text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const written = fc
  .tuple(oddText, fc.integer({ min: 0, max: 4 }))
  .map(([text, kind]) => ({ text, json: kind === 0 ? `"${escaped(text)}"` : JSON.stringify(text) }));

const key = fc.oneof(written, fc.constant({ text: "status", json: '"status"' }));

const { value, object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    written.map(({ json }) => json),
    fc.constantFrom("null", "true", "0", "-1.5e3", "[]", "{}"),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    tie("object"),
  ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(key, space, tie("value"), space), { selector: ([{ text }]) => text, maxLength: 6 }),
      space,
      space,
    )
    .map(([fields, before, after]) => {
      const inside = fields.map(([{ json }, one, field, two]) => `${one}${json}${two}:${one}${field}${two}`);
      return `${before}{${inside.join(",")}}${after}`;
    }),
}));

describe("the status that the index has", () => {
  const parsed = "COALESCE(CASE WHEN json_valid(data) THEN json_extract(data,'$.status') END,'PENDING')";

  /** What both give for a document, with its type. */
  function bothOf(data: string): { readonly cut: string | null; readonly parsed: string | null } {
    const quoted = `'${data.replaceAll("'", "''")}'`;
    const sql = (status: string): string => `typeof(${status}) || ' ' || ${status}`;
    const statement = db.prepare(`SELECT ${sql(STATUS)}, ${sql(parsed)} FROM (SELECT ${quoted} AS data)`);
    const both = statement.first([], (found) => ({ cut: found.text(0), parsed: found.text(1) }))!;
    db.discard(statement);
    return both;
  }

  test("L8 is what parsing finds, in every Execution as we write it", () => {
    const texts = fc.oneof(oddText, fc.constant(null));
    const json = fc.dictionary(oddText, fc.oneof(oddText, fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>));
    const id = fc.constantFrom("a", ',"status":"X', '\\"{}');
    const execution = fc.record({
      id,
      status: fc.constantFrom(...STATUSES),
      error: texts,
      outcome: texts,
      context: json,
    });
    fc.assert(
      fc.property(execution, id, (fields, definition_id) => {
        const { data } = encodeExecution(newExecution({ ...fields, definition_id }));
        expect(bothOf(data)).toEqual({ cut: `text ${fields.status}`, parsed: `text ${fields.status}` });
      }),
    );
  });

  test("L8 is what parsing finds, in any JSON that others may have written", () => {
    fc.assert(
      fc.property(fc.oneof(object, value), (data) => {
        JSON.parse(data);
        const both = bothOf(data);
        expect(both.cut).toBe(both.parsed);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["in its usual place", '{"id":"a","status":"DONE","x":{}}', "text DONE"],
    ["first", '{"status":"DONE","id":"a"}', "text DONE"],
    ["behind an object", '{"context":{"a":1,"status":"X"},"status":"DONE"}', "text DONE"],
    ["only in an object", '{"context":{"a":1,"status":"X"}}', "text PENDING"],
    ["as Python writes it", '{"id": "a", "status": "DONE"}', "text DONE"],
    ["with an escape", '{"id":"a","status":"D\\u004fNE"}', "text DONE"],
    ["long", `{"id":"a","status":"${"D".repeat(40)}"}`, `text ${"D".repeat(40)}`],
    ["empty", '{"id":"a","status":""}', "text "],
    ["null", '{"id":"a","status":null}', "text PENDING"],
    ["a number", '{"id":"a","status":7}', "integer 7"],
    ["missing", '{"id":"a"}', "text PENDING"],
    ["in half a document", '{"id":"a","status":"DONE","conte', "text PENDING"],
    ["in no JSON at all", "status", "text PENDING"],
  ])("L8 %s", (_, data, status) => {
    expect(bothOf(data)).toEqual({ cut: status, parsed: status });
  });
});

test("L6 every status has its own comparison in the index: one without would be parsed in every write", () => {
  for (const status of STATUSES) expect(STATUS).toContain(` THEN '${status}'`);
});
