// The files in the origin private file system: what lies there after a close or a kill, what is laid there and taken away,
// and files that the browser takes away.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { pagesOf } from "../../src/port.ts";
import { AsyncSqliteStore, SqliteStore } from "../browser.ts";
import { readDatabaseFile } from "../wal/database-file.ts";
import { deleteOpfs, importOpfs, openOpfs } from "./index.ts";
import { domError, FakeOpfs } from "./testing/fake-opfs.ts";
import { contents, golden, openStore, sample } from "./testing/stores.ts";

test("a handle that does not close keeps nobody waiting", async () => {
  const fake = new FakeOpfs();
  const { store, adapter } = await openStore(fake);
  store.save(sample("a"));
  fake.closing = (name) => {
    if (name === "a.db-wal") throw domError("InvalidStateError");
  };
  store.close();
  await adapter.closed;
  fake.closing = () => {};
  await expect(openStore(fake)).rejects.toMatchObject({ code: "store-busy" });
  expect(fake.locked).toEqual(["a.db-wal"]);
});

describe("what lies there", () => {
  test.each([SqliteStore, AsyncSqliteStore])(
    "L5 after a close: one whole file and nothing beside it",
    async (Store) => {
      const fake = new FakeOpfs();
      const adapter = await openOpfs("a.db", { directory: fake.directory });
      const store = await Store.create(adapter);
      for (let i = 0; i < 20; i++) await store.save(sample(`e${i}`));
      // While it is open, file and log together are a database too.
      const { "a.db": base, "a.db-wal": log } = fake.files();
      expect(readDatabaseFile({ database: base!, wal: log! }, "a.db").pageCount).toBeGreaterThan(5);
      await store.close();
      await adapter.closed;
      expect(Object.keys(fake.files())).toEqual(["a.db"]);
      expect(fake.locked).toEqual([]);
      const { pageCount, pageSize } = readDatabaseFile({ database: fake.files()["a.db"]!, wal: null }, "a.db");
      expect(fake.files()["a.db"]).toHaveLength(pageCount * pageSize);
    },
  );

  test("L2 what a killed worker left in its log is there", async () => {
    const fake = new FakeOpfs();
    const { store } = await openStore(fake);
    for (let i = 0; i < 20; i++) store.save(sample(`e${i}`));
    const left = fake.afterKill();
    const again = await openStore(left);
    for (let i = 0; i < 20; i++) expect(again.store.load(`e${i}`)?.version).toBe(1);
    again.store.close();
    await again.adapter.closed;
    expect(Object.keys(left.files())).toEqual(["a.db"]);
    store.close();
  });

  test("L5 a log whose file never got its first commit is finished before it is used", async () => {
    const fake = new FakeOpfs();
    const { store } = await openStore(fake);
    store.save(sample("one"));
    const { "a.db-wal": log } = fake.files();
    const left = new FakeOpfs();
    left.put("a.db", new Uint8Array(0));
    left.put("a.db-wal", log!);
    const again = await openStore(left);
    expect(again.store.load("one")?.version).toBe(1);
    const { "a.db": base } = left.files();
    expect(readDatabaseFile({ database: base!, wal: null }, "a.db").pageCount).toBeGreaterThan(5);
    again.store.close();
    store.close();
  });

  test("an empty file is a database that nobody wrote to yet, and no database where one must exist", async () => {
    const fake = new FakeOpfs();
    fake.put("a.db", new Uint8Array(0));
    await expect(openStore(fake, { mustExist: true })).rejects.toMatchObject({ code: "storage-missing" });
    const { store } = await openStore(fake);
    store.save(sample("one"));
    store.close();
  });

  test("L6 a log that was folded is started over, and does not grow for ever", async () => {
    const fake = new FakeOpfs();
    const { store } = await openStore(fake, { checkpointFrames: 50 });
    const one = sample("one");
    for (let i = 0; i < 500; i++) store.save(one);
    expect(fake.files()["a.db-wal"]!.length).toBeLessThan(2_000_000);
    store.close();
  });
});

describe("importing and deleting", () => {
  test.each([
    ["checkpointed.db", null],
    ["rollback-mode.db", null],
    ["uncheckpointed.db", golden("uncheckpointed.db-wal")],
  ])("%s is laid there whole", async (name, wal) => {
    const fake = new FakeOpfs();
    const files = { database: golden(name), wal };
    await importOpfs("a.db", files, { directory: fake.directory });
    expect(Object.keys(fake.files())).toEqual(["a.db"]);
    const wanted = pagesOf(readDatabaseFile(files, name));
    const found = pagesOf(readDatabaseFile({ database: fake.files()["a.db"]!, wal: null }, "a.db"));
    expect(found.pageCount).toBe(wanted.pageCount);
    for (let number = 1; number <= wanted.pageCount; number++) {
      expect(Buffer.compare(found.page(number), wanted.page(number))).toBe(0);
    }
  });

  test("L7 over what a killed worker left: refused, and nothing changed", async () => {
    const fake = new FakeOpfs();
    const { store } = await openStore(fake);
    store.save(sample("one"));
    const left = fake.afterKill();
    const before = contents(left);
    const files = { database: golden("rollback-mode.db"), wal: null };
    await expect(importOpfs("a.db", files, { directory: left.directory })).rejects.toMatchObject({
      code: "storage-exists",
    });
    expect(contents(left)).toEqual(before);
    store.close();
  });

  test("L7 no database, or where there is one already: refused, and nothing changed", async () => {
    const fake = new FakeOpfs();
    const { directory } = fake;
    const text = { database: new TextEncoder().encode("hello"), wal: null };
    await expect(importOpfs("a.db", text, { directory })).rejects.toMatchObject({ code: "not-a-database" });
    expect(fake.files()).toEqual({});
    await importOpfs("a.db", { database: golden("checkpointed.db"), wal: null }, { directory });
    const before = contents(fake);
    const again = importOpfs("a.db", { database: golden("rollback-mode.db"), wal: null }, { directory });
    await expect(again).rejects.toMatchObject({ code: "storage-exists" });
    expect(contents(fake)).toEqual(before);
    expect(fake.locked).toEqual([]);
  });

  test("L1 an import that fails leaves nothing that could be taken for a database", async () => {
    const fake = new FakeOpfs();
    const { directory } = fake;
    fake.before = (call, name) => {
      if (call === "write" && name === "a.db") throw domError("QuotaExceededError");
    };
    const files = { database: golden("checkpointed.db"), wal: null };
    await expect(importOpfs("a.db", files, { directory })).rejects.toMatchObject({ code: "quota" });
    fake.before = () => {};
    await expect(openOpfs("a.db", { directory, mustExist: true })).rejects.toMatchObject({ code: "storage-missing" });
    await importOpfs("a.db", files, { directory });
  });

  test("deleting takes file, log and journal, whatever is in them", async () => {
    const fake = new FakeOpfs();
    for (const name of ["a.db", "a.db-wal", "a.db-journal", "b.db"]) fake.put(name, Uint8Array.of(1, 2, 3));
    await deleteOpfs("a.db", { directory: fake.directory });
    await deleteOpfs("a.db", { directory: fake.directory });
    expect(Object.keys(fake.files())).toEqual(["b.db"]);
  });
});

describe("L7 files that the browser takes away from under a store", () => {
  /** A minute later: what was asked a moment ago is asked again. */
  function later(): void {
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
    onTestFinished(() => void vi.restoreAllMocks());
  }

  test("cleared: the store says so from then on, and closes without hanging", async () => {
    const fake = new FakeOpfs();
    const { store, adapter } = await openStore(fake);
    const one = sample("one");
    store.save(one);
    store.save(one);
    fake.clear();
    later();
    store.load("one");
    await vi.waitFor(() => expect(() => store.load("one")).toThrow("site data was cleared"));
    expect(() => store.save(one)).toThrow("site data was cleared");
    expect(one.version).toBe(2);
    store.close();
    await adapter.closed;
    expect(fake.files()).toEqual({});
  });

  test("cleared, and another database made in its place: that one is another's", async () => {
    const fake = new FakeOpfs();
    const first = await openStore(fake);
    first.store.save(sample("one"));
    fake.clear();
    const second = await openStore(fake);
    second.store.save(sample("two"));
    later();
    first.store.load("one");
    await vi.waitFor(() => expect(() => first.store.load("one")).toThrow("site data was cleared"));
    first.store.close();
    await first.adapter.closed;
    expect(second.store.load("two")?.version).toBe(1);
    second.store.close();
  });

  test("cleared and closed at once: closing asks first", async () => {
    const fake = new FakeOpfs();
    const { store, adapter } = await openStore(fake);
    fake.clear();
    const closes: string[] = [];
    fake.closing = (name) => void closes.push(name);
    store.close();
    await adapter.closed;
    expect(closes).toEqual([]);
  });

  test("closed: the commit that met it fails and says why, and so does what follows", async () => {
    const fake = new FakeOpfs();
    const { store, adapter } = await openStore(fake);
    const one = sample("one");
    store.save(one);
    fake.closeBehind("a.db-wal");
    expect(() => store.save(one)).toThrow("the browser closed");
    expect(one.version).toBe(1);
    expect(() => store.save(one)).toThrow("open it again");
    store.close();
    await adapter.closed;
    const again = await openStore(fake);
    expect(again.store.load("one")?.version).toBe(1);
    again.store.close();
  });
});
