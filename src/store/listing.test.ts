// Listings without a database: options to SQL and values, cursors to places (L1, L7).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RecordInvalid } from "../errors.ts";
import type { ExecutionSummary } from "../records/structs.ts";
import { makePage, planListing } from "./listing.ts";

const row = (id: string): ExecutionSummary => ({
  ...{ id, definition_id: "d", status: "DONE", outcome: null, active_path: null, version: 1, parent_id: null },
});

/** The part of the plan after the columns. */
const conditions = (options: Parameters<typeof planListing>[0]): string =>
  planListing(options)!.sql.replaceAll(/SELECT .*? FROM executions/g, "…");

/** The cursor that leads past a row. */
const cursorAfter = (id: string): string | null => makePage([row(id), row("more")], 1).nextCursor;

describe("plans", () => {
  test("L1 nothing asked for: everything, a page of 100 and one row more", () => {
    expect(conditions({})).toBe("… WHERE 1=1 ORDER BY id LIMIT +? OFFSET +?");
    expect(planListing()).toMatchObject({ values: [101, 0], limit: 100 });
  });

  test("L1 an empty list of statuses needs no database, whatever else is asked for", () => {
    expect(planListing({ status: [], rootsOnly: true, limit: 5 })).toBeNull();
  });

  test("L1 a status asked for twice is asked of SQLite once", () => {
    expect(planListing({ status: ["DONE", "FAILED", "DONE"], limit: 7 })?.values).toEqual(["DONE", "FAILED", 8, 0]);
    expect(conditions({ status: ["DONE", "FAILED", "DONE"] }).split("UNION ALL")).toHaveLength(2);
  });

  test("L1 each status is a stretch of its own with every other condition", () => {
    const cursor = cursorAfter("x");
    const plan = planListing({ status: ["DONE", "FAILED"], definitionId: "d", rootsOnly: true, cursor, limit: 1 });
    expect(plan?.values).toEqual(["DONE", "d", "x", "FAILED", "d", "x", 2, 0]);
    expect(plan?.sql.match(/id > \+\?/g)).toHaveLength(2);
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 53])("L1 limit %s is refused", (limit) => {
    expect(() => planListing({ limit })).toThrow(RecordInvalid);
    expect(() => planListing({ limit, status: [] })).toThrow("limit: expected an integer of at least 1");
  });
});

describe("cursors", () => {
  test("L1 the last page has none, a page with more has one", () => {
    expect(makePage([], 2)).toEqual({ items: [], nextCursor: null });
    expect(makePage([row("a"), row("b")], 2).nextCursor).toBeNull();
    const page = makePage([row("a"), row("b"), row("c")], 2);
    expect(page.items.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(planListing({ cursor: page.nextCursor })?.values).toEqual(["b", 101, 0]);
  });

  test("L1 a cursor leads past any id there is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (id) => {
        const cursor = cursorAfter(id);
        expect(cursor).toMatch(/^[A-Za-z0-9+/]+=*$/);
        expect(planListing({ cursor })?.values).toEqual([id, 101, 0]);
      }),
    );
  });

  test.each<[string, number]>([
    ["MA==", 0],
    ["Nw==", 7],
    ["MTQ=", 14],
    ["OTk5OTk5OTk5OTk5OTk5", 999_999_999_999_999],
  ])("L8 the original's cursor %s is offset %d", (cursor, offset) => {
    expect(planListing({ cursor })?.values).toEqual([101, offset]);
  });

  test("L7 any other text is the first page", () => {
    const first = planListing({})?.values;
    const offset = /^\d{1,15}$/;
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.base64String()), (cursor) => {
        let text = "";
        try {
          text = atob(cursor);
        } catch {
          // Not base64 at all.
        }
        fc.pre(!text.startsWith("k:") && !offset.test(text));
        expect(planListing({ cursor })?.values).toEqual(first);
      }),
    );
    // An offset that no double holds, one that is negative, and one with a fraction.
    for (const text of ["9999999999999999", "-7", "7.5", "1e3", " 7", "k"]) {
      expect(planListing({ cursor: btoa(text) })?.values).toEqual(first);
    }
  });
});
