// Listings: what a summary shows, filters, the order of ids, and limits. Cursors have a chapter of their own.
import { RecordInvalid } from "../../errors.ts";
import { STATUSES, type Status } from "../../records/structs.ts";
import type { ListOptions, Page } from "../../store/listing.ts";
import { equal, fails } from "../check.ts";
import { order } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";
import type { Store } from "../stage.ts";

export const idsOf = async (store: Store, options?: ListOptions): Promise<string[]> =>
  (await store.listExecutions(options)).items.map(({ id }) => id);

/** The ids of every page, following the cursors; `between` runs after each page. */
export async function walk(
  store: Store,
  options: ListOptions,
  between: (page: string) => Promise<void> = async () => {},
): Promise<string[]> {
  const pages: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await store.listExecutions({ ...options, cursor });
    pages.push(page.items.map(({ id }) => id).join(""));
    cursor = page.nextCursor;
    await between(pages.at(-1)!);
    // A cursor that does not move would never end.
  } while (cursor !== null && pages.length < 50);
  return pages;
}

/** Rows for filters: id, definition, status, parent. */
const ROWS: readonly (readonly [string, string, Status, string | null])[] = [
  ["1", "order", "RUNNING", null],
  ["2", "order", "DONE", null],
  ["3", "order", "RUNNING", "1"],
  ["4", "payment", "RUNNING", null],
  ["5", "payment", "FAILED", "1"],
  ["6", "order", "PENDING", null],
];

async function fill(store: Store): Promise<void> {
  for (const [id, definition_id, status, parent_id] of ROWS) {
    await store.save(order(id, { definition_id, status, parent_id }));
  }
}

/** What SQLite cannot read as an Execution, and other programs may have left. */
const BAD_DATA = [
  ["not JSON", "'secret {'"],
  ["an empty text", "''"],
  ["an array", "'[1,2]'"],
  ["a number", "'5'"],
  ["a null", "'null'"],
  ["a blob", "x'00ff00ff'"],
  ["a blob that begins as SQLite's own JSON does", "x'2cffff'"],
  ["the same, with a key and nothing more", "x'4c17616208'"],
  ["text that is not UTF-8", "CAST(x'7b22ff22' AS TEXT)"],
  ["unclosed nesting", `'${"[".repeat(2000)}'`],
] as const;

export const listing: Chapter = {
  title: "listings",
  scenarios: [
    scenario("L1 a summary shows seven fields, without the blob", async ({ open }) => {
      const store = await open();
      const exe = order("a", {
        status: "RUNNING",
        outcome: "so\0 far",
        active_path: "Ü.x",
        parent_id: "p",
        error: "e",
      });
      await store.save(exe);
      await store.save(exe);
      const { items, nextCursor } = await store.listExecutions();
      equal(nextCursor, null);
      equal(items, [
        {
          ...{ id: "a", definition_id: "order", status: "RUNNING", outcome: "so\0 far", active_path: "Ü.x" },
          ...{ version: 2, parent_id: "p" },
        },
      ]);
    }),

    scenario("L1 filters AND together", async ({ open }) => {
      const store = await open();
      await fill(store);
      const cases: [ListOptions, string[]][] = [
        [{}, ["1", "2", "3", "4", "5", "6"]],
        [{ status: null, definitionId: null, rootsOnly: false, cursor: null }, ["1", "2", "3", "4", "5", "6"]],
        [{ status: "RUNNING" }, ["1", "3", "4"]],
        [{ status: ["RUNNING"] }, ["1", "3", "4"]],
        [{ status: ["FAILED", "DONE"] }, ["2", "5"]],
        [{ status: ["DONE", "DONE", "RUNNING", "DONE"] }, ["1", "2", "3", "4"]],
        [{ status: [...STATUSES] }, ["1", "2", "3", "4", "5", "6"]],
        [{ status: [] }, []],
        [{ status: "SUSPENDED" }, []],
        [{ definitionId: "order" }, ["1", "2", "3", "6"]],
        [{ definitionId: "Order" }, []],
        [{ definitionId: "" }, []],
        [{ rootsOnly: true }, ["1", "2", "4", "6"]],
        [{ rootsOnly: true, status: "RUNNING" }, ["1", "4"]],
        [{ rootsOnly: true, definitionId: "payment" }, ["4"]],
        [{ definitionId: "order", status: ["RUNNING", "PENDING"] }, ["1", "3", "6"]],
        [{ rootsOnly: true, definitionId: "order", status: ["RUNNING", "PENDING"] }, ["1", "6"]],
        [{ rootsOnly: true, definitionId: "order", status: [] }, []],
      ];
      for (const [options, ids] of cases) equal(await idsOf(store, options), ids, JSON.stringify(options));
    }),

    scenario("L1 a filter follows the Execution as it changes", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      for (const status of STATUSES) {
        exe.status = status;
        await store.save(exe);
        for (const asked of STATUSES) equal(await idsOf(store, { status: asked }), asked === status ? ["a"] : []);
      }
    }),

    scenario("L1 ids come in the order of their UTF-8 bytes", async ({ open }) => {
      const store = await open();
      // By UTF-16 units the last two would come before U+FF5E and U+FFFD.
      const ids = ["", " ", "0", "10", "9", "A", "Z", "a", "ab", "b", "\u007f", "é", "\uff5e", "\ufffd", "𐀀", "😀"];
      for (const id of ids.toReversed()) await store.save(order(id));
      equal(await idsOf(store), ids);
      equal(await idsOf(store, { status: ["PENDING", "DONE"] }), ids);
      equal(await idsOf(store, { rootsOnly: true, definitionId: "order" }), ids);
    }),

    scenario("L1 a page holds 100 rows unless told otherwise", async ({ open }) => {
      const store = await open();
      const ids = Array.from({ length: 101 }, (_, i) => `${1000 + i}`);
      for (const id of ids) await store.save(order(id));
      const page = await store.listExecutions();
      equal(page.items.length, 100);
      equal(await idsOf(store, { cursor: page.nextCursor }), ["1100"]);
      equal(await idsOf(store, { limit: 1 }), ["1000"]);
      equal((await store.listExecutions({ limit: 101 })).nextCursor, null);
      equal((await idsOf(store, { limit: Number.MAX_SAFE_INTEGER })).length, 101);
    }),

    scenario("L1 a limit below 1 is refused", async ({ open }) => {
      const store = await open();
      for (const limit of [0, -1, 0.5, 1.5, Number.NaN, Infinity, "2" as unknown as number]) {
        const message = "limit: expected an integer of at least 1";
        await fails(
          RecordInvalid,
          { code: "record-invalid", message },
          () => store.listExecutions({ limit }),
          `${limit}`,
        );
        await fails(RecordInvalid, { message }, () => store.listExecutions({ limit, status: [] }), `${limit}`);
      }
    }),

    scenario("L7 a row no one can read does not break a page", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await store.save(order("a"));
      await store.save(order("z", { status: "DONE", parent_id: "a" }));
      for (const [i, [, data]] of BAD_DATA.entries()) {
        await place.run(`INSERT INTO executions VALUES ('bad${i}', 'order', ${data}, 3)`);
      }
      const bad = BAD_DATA.map((_, i) => `bad${i}`);
      const { items } = await store.listExecutions();
      equal(
        items.map(({ id }) => id),
        ["a", ...bad, "z"],
      );
      for (const [i, [what]] of BAD_DATA.entries()) {
        const nothing = { outcome: null, active_path: null, parent_id: null };
        equal(items[i + 1], { id: `bad${i}`, definition_id: "order", status: "PENDING", version: 3, ...nothing }, what);
      }
      equal(await idsOf(store, { status: "PENDING" }), ["a", ...bad]);
      equal(await idsOf(store, { rootsOnly: true }), ["a", ...bad]);
      equal(await idsOf(store, { status: "DONE" }), ["z"]);
      // One row at a time: every page gets past the bad ones.
      equal(await walk(store, { limit: 1 }), ["a", ...bad, "z"]);
    }),

    scenario("L7 fields of the wrong kind do not break a page, and writing goes on", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const data = '{"status": 7, "outcome": {"a": 1}, "active_path": ["x"], "parent_id": 0}';
      await place.run(`INSERT INTO executions VALUES ('a', 'order', '${data}', 'many')`);
      await place.run("INSERT INTO executions VALUES ('b', 'order', '{}', 2)");
      await store.save(order("c"));
      const [a, b] = (await store.listExecutions()).items;
      const shown = { outcome: '{"a":1}', active_path: '["x"]', parent_id: "0" };
      equal(a, { id: "a", definition_id: "order", status: "7", version: 0, ...shown });
      const nothing = { outcome: null, active_path: null, parent_id: null };
      equal(b, { id: "b", definition_id: "order", status: "PENDING", version: 2, ...nothing });
    }),
  ],
};
