// Salvage of a place in IndexedDB by its name: what is whole comes over as far as it goes, every part that is missing or
// damaged is told, and the place stays as it is (L7).
import { IDBKeyRange } from "fake-indexeddb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { AsyncSqliteStore, salvage, type SalvageReport } from "../browser.ts";
import { adapterOn } from "./adapter.ts";
import { FRAME_WORDS } from "./frame.ts";
import { FaultyIndexedDb } from "./testing/faults.ts";
import { Site } from "./testing/site.ts";
import { at, type Entries, flipped, of, place, printed, raw, unread } from "./testing/stored.ts";

let site: Site;
let entries: Entries;
beforeEach(async () => {
  site = new Site();
  entries = await place(site);
  // As a page has it: `salvage` finds the place by its name alone.
  vi.stubGlobal("indexedDB", site.indexedDB);
  vi.stubGlobal("IDBKeyRange", IDBKeyRange);
  return () => vi.unstubAllGlobals();
});

interface Rescued {
  readonly ids: string[];
  readonly report: SalvageReport;
  /** What the report tells of the place, in words. */
  readonly told: string[];
}

/** Salvages the place, and looks at what came of it. */
async function rescue(): Promise<Rescued> {
  const report = await salvage("store", adapterOn(site.tab(), "rescued", {}));
  const store = await AsyncSqliteStore.create(adapterOn(site.tab(), "rescued", { mustExist: true }));
  expect(await store.verify()).toEqual([]);
  const { items } = await store.listExecutions();
  for (const { id } of items) expect((await store.load(id))?.version).toBe(1);
  await store.close();
  expect(report.rows.executions).toBe(items.length);
  expect(report.problems.every(({ kind }) => kind === "storage")).toBe(true);
  return { ids: items.map(({ id }) => id), report, told: report.problems.map(({ problem }) => problem) };
}

/** The same, when the place was damaged before. */
async function rescueFrom(damage: (store: IDBObjectStore) => void): Promise<Rescued> {
  const before = await raw(site, damage);
  const rescued = await rescue();
  expect(printed(await raw(site))).toEqual(printed(before));
  return rescued;
}

/** The first part of the record that saved an Execution, the last one being "f". */
const recordOf = (id: "d" | "e" | "f"): Entries[number] =>
  of(entries, "log")
    .filter(([[, , part]]) => part === 0)
    .at("def".indexOf(id) - 3)!;

describe("L7 salvage from IndexedDB", () => {
  test("all of a sound place comes over", async () => {
    const { ids, report } = await rescueFrom(() => {});
    expect(ids).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(report).toMatchObject({ lost: [], problems: [], otherTables: [] });
  });

  test("what another tab commits meanwhile is there or not, and whole", async () => {
    const store = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", {}));
    const exe = (await store.load("a"))!;
    const [report] = await Promise.all([salvage("store", adapterOn(site.tab(), "rescued", {})), store.save(exe)]);
    expect(report).toMatchObject({ lost: [], problems: [] });
    await store.close();
  });

  test("a block that is gone takes its pages, and no others", async () => {
    const [key] = at(entries, "base", -1);
    const { ids, report, told } = await rescueFrom((store) => store.delete(key));
    expect(told).toContain("block 1 of its base is missing");
    expect(report.lost.length).toBeGreaterThan(0);
    expect(ids).toEqual(expect.arrayContaining(["d", "e"]));
  });

  test("without its first block the log has the pages that were new in it, and those it wrote whole", async () => {
    const [key, value] = at(entries, "base", 0);
    const { ids, told } = await rescueFrom((store) => store.put(flipped(value, FRAME_WORDS + 5), key));
    expect(told).toContain("block 0 of its base does not match its checksum");
    expect(ids).toContain("f");
  });

  test("blocks under each other's number are known by what they say", async () => {
    const [[one, first], [other, second]] = [at(entries, "base", 0), at(entries, "base", 1)];
    const { ids, report, told } = await rescueFrom((store) => {
      store.put(second, one);
      store.put(first, other);
    });
    expect(ids).toHaveLength(6);
    expect(report.lost).toEqual([]);
    expect(told).toEqual([
      "block 1 of its base lies under another number",
      "block 0 of its base lies under another number",
    ]);
  });

  test("without a head everything is there all the same", async () => {
    const { ids, report, told } = await rescueFrom((store) => store.delete(at(entries, "head", 0)[0]));
    expect(ids).toHaveLength(6);
    expect(report.lost).toEqual([]);
    expect(told).toEqual(["its head is missing"]);
  });

  test("a record that is damaged ends the chain: the database is as it was before it", async () => {
    const [key, value] = recordOf("e");
    const { ids, report, told } = await rescueFrom((store) => store.put(flipped(value, FRAME_WORDS + 9), key));
    expect(ids).toEqual(["a", "b", "c", "d"]);
    expect(report.lost).toEqual([]);
    const [, sequence = 0] = key;
    expect(told[0]).toBe(`part 0 of record ${sequence} of its log does not match its checksum`);
    expect(told.slice(1)).toContain(
      `pages 1 to 64 are as after record ${sequence - 1} of its log: what came later builds on what is missing`,
    );
  });

  test("a record that is gone is told, and so is one of which a part is gone", async () => {
    const [middle, last] = [recordOf("d")[0], at(entries, "log", -1)[0]];
    const { ids, told } = await rescueFrom((store) => {
      store.delete(middle);
      store.delete(last);
    });
    expect(ids).toEqual(["a", "b", "c"]);
    expect(told).toEqual(
      expect.arrayContaining([
        `record ${middle[1]} of its log is missing`,
        `record ${last[1]} of its log is not whole`,
      ]),
    );
  });

  test("without a log the base is there as far as it goes", async () => {
    const { ids, told } = await rescueFrom((store) => {
      for (const [key] of of(entries, "log")) store.delete(key);
    });
    expect(ids).toEqual(expect.arrayContaining(["a", "b"]));
    expect(told[0]).toMatch(/^records? \d+.* of its log (is|are) missing$/);
  });

  test("values of another database are left out", async () => {
    const other = await place(new Site());
    const { ids, told } = await rescueFrom((store) => store.put(at(other, "log", -1)[1], at(entries, "log", -1)[0]));
    expect(ids).toEqual(["a", "b", "c", "d", "e"]);
    expect(told[0]).toMatch(/belongs to another database/);
  });

  test("nothing that is whole gives an empty store, and says so", async () => {
    const { ids, told } = await rescueFrom((store) => {
      for (const [key] of entries) store.put({ something: "else" }, key);
    });
    expect(ids).toEqual([]);
    expect(told.filter((one) => one.endsWith("is something else"))).toHaveLength(entries.length);
  });

  test("a value that the browser cannot read is told, and does not keep it from reading the others", async () => {
    await unread(site, at(entries, "base", 1)[0]);
    const { ids, told } = await rescue();
    expect(told).toContain("block 1 of its base cannot be read by the browser");
    expect(ids).toEqual(expect.arrayContaining(["d", "e"]));
  });

  test("a transaction that the browser then aborts has told what it told", async () => {
    const faulty = new FaultyIndexedDb(site.indexedDB, site.clock);
    faulty.plan = (kind) => (kind === "commit" ? "aborts without a reason" : null);
    vi.stubGlobal("indexedDB", faulty.factory);
    expect((await rescue()).ids).toHaveLength(6);
  });

  test("what is damaged tells no value", async () => {
    const { report } = await rescueFrom((store) => {
      for (const [key, value] of entries.slice(1)) store.put(flipped(value, FRAME_WORDS + 20), key);
    });
    expect(JSON.stringify(report)).not.toContain("7919");
  });
});

describe("L7 salvage refuses what it cannot read", () => {
  test("a name that nothing is stored under, and makes nothing there", async () => {
    await expect(salvage("none", ":memory:")).rejects.toMatchObject({ code: "storage-missing", place: "none" });
    const names = (await site.indexedDB.databases()).map(({ name }) => name);
    expect(names).toEqual(["perdure:store"]);
  });

  test("a place of a newer version, something else, and no name at all", async () => {
    for (const [name, version, store] of [
      ["newer", 2, "perdure"],
      ["other", 1, "keyval"],
    ] as const) {
      await new Promise<void>((resolve) => {
        const request = site.indexedDB.open(`perdure:${name}`, version);
        request.addEventListener("upgradeneeded", () => void request.result.createObjectStore(store));
        request.addEventListener("success", () => resolve(request.result.close()));
      });
    }
    await expect(salvage("newer", ":memory:")).rejects.toMatchObject({ code: "newer-format" });
    await expect(salvage("other", ":memory:")).rejects.toMatchObject({ code: "not-a-database" });
    await expect(salvage("", ":memory:")).rejects.toMatchObject({ code: "record-invalid" });
  });

  test("a place where something is, as the one to bring it to", async () => {
    await expect(salvage("store", "store")).rejects.toMatchObject({ code: "storage-exists" });
  });
});
