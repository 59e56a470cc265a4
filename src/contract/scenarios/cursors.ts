// Cursors: a walk that neither skips nor repeats while others write, the original's offsets, and garbage.
import { equal } from "../check.ts";
import { order } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";
import type { Store } from "../stage.ts";
import { idsOf, walk } from "./listing.ts";

async function fill(store: Store, ids: string): Promise<void> {
  for (const id of ids) await store.save(order(id));
}

export const cursors: Chapter = {
  title: "cursors",
  scenarios: [
    scenario("L1 following cursors gives every row once, the last page ends it", async ({ open }) => {
      const store = await open();
      equal(await walk(store, { limit: 2 }), [""]);
      await fill(store, "abcdef");
      equal(await walk(store, { limit: 1 }), ["a", "b", "c", "d", "e", "f"]);
      equal(await walk(store, { limit: 4 }), ["abcd", "ef"]);
      equal(await walk(store, { limit: 3 }), ["abc", "def"], "a full last page has no cursor");
      equal(await walk(store, { limit: 6 }), ["abcdef"]);
      equal(await walk(store, { limit: 4, status: ["PENDING", "DONE"], rootsOnly: true }), ["abcd", "ef"]);
    }),

    scenario("L1 an insert between pages neither repeats nor skips a row", async ({ open }) => {
      const store = await open();
      await fill(store, "bdfh");
      const pages = await walk(store, { limit: 2 }, async (page) => {
        if (page === "bd") await fill(store, "ace");
      });
      equal(pages, ["bd", "ef", "h"]);
    }),

    scenario("L1 a delete between pages neither repeats nor skips a row", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await fill(store, "abcdef");
      const pages = await walk(store, { limit: 2 }, async (page) => {
        if (page === "ab") await place.run("DELETE FROM executions WHERE id IN ('a', 'b', 'c')");
      });
      equal(pages, ["ab", "de", "f"]);
    }),

    scenario("L1 a row that leaves the filter between pages moves no other", async ({ open }) => {
      const store = await open();
      await fill(store, "abcdef");
      const pages = await walk(store, { limit: 2, status: "PENDING" }, async (page) => {
        if (page !== "ab") return;
        for (const id of "ad") await store.save({ ...(await store.load(id))!, status: "DONE" });
      });
      equal(pages, ["ab", "ce", "f"]);
    }),

    scenario("L1 cursors carry ids of every kind", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const ids = ["", " '\"%_", "a\nb", "k:", "z".repeat(5000), "Ü", "\uff5e", "😀"];
      for (const id of ids) await store.save(order(id));
      // Python lets U+0000 into an id.
      await place.run("INSERT INTO executions VALUES (CAST(x'6b00' AS TEXT), 'order', '{}', 1)");
      await place.run("INSERT INTO executions VALUES (CAST(x'6b0001' AS TEXT), 'order', '{}', 1)");
      equal(await walk(store, { limit: 1 }), [
        "",
        " '\"%_",
        "a\nb",
        "k\0",
        "k\0\x01",
        "k:",
        "z".repeat(5000),
        "Ü",
        "\uff5e",
        "😀",
      ]);
    }),

    scenario("L8 the original's cursors skip as many rows as they say", async ({ open }) => {
      const store = await open();
      await fill(store, "abcdefghij");
      equal(await idsOf(store, { cursor: "Nw==" }), ["h", "i", "j"], "offset 7");
      equal(await idsOf(store, { cursor: "MA==", limit: 2 }), ["a", "b"], "offset 0");
      equal(await idsOf(store, { cursor: "MTA=" }), [], "offset 10");
      equal(await idsOf(store, { cursor: "OTk5OTk5OTk5OTk5OTk5" }), [], "offset 999999999999999");
      const page = await store.listExecutions({ cursor: "Mg==", limit: 3, rootsOnly: true });
      equal(page.items.map(({ id }) => id).join(""), "cde");
      equal(await idsOf(store, { cursor: page.nextCursor }), ["f", "g", "h", "i", "j"], "ours goes on from there");
    }),

    scenario("L7 a cursor that is garbage means the first page", async ({ open }) => {
      const store = await open();
      await fill(store, "abc");
      // The last ones are base64 of "-7", "7.5", "1e3", "k", "offset", and bytes that are not UTF-8.
      const texts = [
        "",
        " ",
        "!",
        "=====",
        "ü",
        "😀",
        "%00",
        "null",
        "LTc=",
        "Ny41",
        "MWUz",
        "aw==",
        "b2Zmc2V0",
        "/w==",
      ];
      const wrong = [7, {}, [], true] as unknown as string[];
      for (const cursor of [...texts, ...wrong]) {
        equal(await idsOf(store, { cursor }), ["a", "b", "c"], `cursor ${JSON.stringify(cursor)}`);
      }
    }),
  ],
};
