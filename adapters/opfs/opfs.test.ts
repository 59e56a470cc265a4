// What is particular to files in the origin private file system: names, one store at a time, what is refused and left
// alone (L7), what lies there after a close, and files that the browser takes away.
import * as fs from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { newExecution } from "../../src/records/codec.ts";
import { AsyncSqliteStore, type ErrorCode, PerdureError, SqliteStore } from "../browser.ts";
import { readDatabaseFile } from "../wal/database-file.ts";
import { pagesOf } from "../wal/pages.ts";
import { FrameWriter, startLog, writeHeader } from "../wal/wal.ts";
import { deleteOpfs, importOpfs, openOpfs, type OpfsAdapter, type OpfsOptions } from "./index.ts";
import { domError, FakeOpfs } from "./testing.ts";

const golden = (name: string): Uint8Array =>
  new Uint8Array(fs.readFileSync(new URL(`../../src/contract/golden/${name}`, import.meta.url)));
const LOG = golden("uncheckpointed.db-wal");

const patched = (bytes: Uint8Array, at: number, ...values: number[]): Uint8Array => {
  const copy = bytes.slice();
  copy.set(values, at);
  return copy;
};

const sample = (id: string) => newExecution({ id, definition_id: "order" });

async function open(fake: FakeOpfs, options: OpfsOptions = {}): Promise<{ store: SqliteStore; adapter: OpfsAdapter }> {
  const adapter = await openOpfs("a.db", { directory: fake.directory, busyTimeoutMs: 0, ...options });
  return { store: await SqliteStore.create(adapter), adapter };
}

/** Every file with its bytes, in a form that is quick to compare. */
const contents = (fake: FakeOpfs): Record<string, string> =>
  Object.fromEntries(Object.entries(fake.files()).map(([name, bytes]) => [name, Buffer.from(bytes).toString("hex")]));

const refusalOf = (opening: Promise<unknown>): Promise<unknown> => opening.then(() => null).catch((error) => error);

describe("names", () => {
  const fake = new FakeOpfs();

  test.each([
    "",
    ".",
    "..",
    "a/b",
    "/a",
    "../a",
    "a\\b",
    "a\0b",
    "a\nb",
    "a.db-wal",
    "a.db-journal",
    "a.db-shm",
    "\ud800",
    "x".repeat(241),
    "ü".repeat(121),
  ])("%j is none", async (name) => {
    for (const call of [openOpfs, deleteOpfs, importOpfs] as ((
      name: string,
      ...rest: unknown[]
    ) => Promise<unknown>)[]) {
      await expect(call(name, { directory: fake.directory })).rejects.toMatchObject({ code: "record-invalid" });
    }
    expect(fake.files()).toEqual({});
  });

  test.each(["a", "orders.db", "Ärger 7", "wal", "a-wal.db", "..a", "😀".repeat(60)])("%j is one", async (name) => {
    const store = await SqliteStore.create(await openOpfs(name, { directory: fake.directory }));
    store.save(sample("one"));
    store.close();
    const again = await SqliteStore.create(await openOpfs(name, { directory: fake.directory, mustExist: true }));
    expect(again.load("one")?.version).toBe(1);
    again.close();
  });

  test("an option that is not known, or not as it must be, is refused", async () => {
    const { directory } = fake;
    for (const options of [{ busyTimeout: 1 }, { directory: "x" }, { checkpointFrames: 0 }, { durability: "none" }]) {
      await expect(openOpfs("a", { directory, ...options } as never)).rejects.toMatchObject({ code: "record-invalid" });
    }
    await expect(deleteOpfs("a", { mustExist: true } as never)).rejects.toMatchObject({ code: "record-invalid" });
  });
});

describe("without the platform", () => {
  test("L7 no origin private file system: unsupported", async () => {
    await expect(openOpfs("a")).rejects.toMatchObject({ code: "unsupported", place: "a" });
  });

  test("L7 no synchronous handles, as in a window: unsupported, and nothing is made", async () => {
    const removed: string[] = [];
    const directory = {
      getFileHandle: async (_name: string, options?: { create?: boolean }) => {
        if (options?.create !== true) throw domError("NotFoundError");
        return { kind: "file" as const };
      },
      removeEntry: async (name: string) => void removed.push(name),
    };
    await expect(openOpfs("a", { directory })).rejects.toMatchObject({ code: "unsupported" });
  });

  test("L7 handles whose calls give promises: unsupported", async () => {
    let closed = 0;
    const handle = { getSize: async () => 0, close: () => void closed++ };
    const file = { kind: "file" as const, createSyncAccessHandle: async () => handle as never };
    const directory = { getFileHandle: async () => file, removeEntry: async () => {} };
    await expect(openOpfs("a", { directory })).rejects.toMatchObject({ code: "unsupported" });
    expect(closed).toBe(1);
  });

  test.each([
    ["SecurityError", "storage-denied"],
    ["NotAllowedError", "storage-denied"],
    ["TypeMismatchError", "not-a-database"],
    ["UnknownError", "storage-unreadable"],
    ["QuotaExceededError", "quota"],
  ])("L7 %s while opening is %s", async (name, code) => {
    const fake = new FakeOpfs();
    fake.before = () => {
      throw domError(name);
    };
    const error = await refusalOf(openOpfs("a.db", { directory: fake.directory }));
    expect(error).toMatchObject({ code, cause: { name } });
  });
});

describe("one store at a time (L4)", () => {
  test("another one is told that the place is busy, and gets it when the first is closed", async () => {
    const fake = new FakeOpfs();
    const first = await open(fake);
    await expect(open(fake)).rejects.toMatchObject({ code: "store-busy" });
    await expect(deleteOpfs("a.db", { directory: fake.directory, busyTimeoutMs: 0 })).rejects.toMatchObject({
      code: "store-busy",
    });
    const waiting = open(fake, { busyTimeoutMs: 60_000 });
    first.store.save(sample("one"));
    first.store.close();
    const second = await waiting;
    expect(second.store.load("one")?.version).toBe(1);
    second.store.close();
  });

  test("opened again right after closing, there is nothing to wait for", async () => {
    const fake = new FakeOpfs();
    for (let i = 0; i < 5; i++) {
      const { store } = await open(fake);
      const one = store.load("one") ?? sample("one");
      expect(one.version).toBe(i);
      store.save(one);
      store.close();
    }
  });

  test("a file taken away between finding and opening it is made again", async () => {
    const fake = new FakeOpfs();
    let isTaken = false;
    fake.before = (call, name) => {
      if (call !== "createSyncAccessHandle" || name !== "a.db" || isTaken) return;
      isTaken = true;
      fake.clear();
    };
    const { store } = await open(fake, { busyTimeoutMs: 60_000 });
    store.save(sample("one"));
    store.close();
  });
});

interface Hostile {
  readonly name: string;
  readonly code: ErrorCode;
  readonly says: RegExp;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

const HOSTILE: readonly Hostile[] = [
  {
    name: "text",
    code: "not-a-database",
    says: /encrypted/,
    files: { "a.db": new TextEncoder().encode("hello ".repeat(1000)) },
  },
  {
    name: "an empty file with a log that needs it",
    code: "image-corrupt",
    says: /empty/,
    files: { "a.db": new Uint8Array(0), "a.db-wal": partOfLog() },
  },
  {
    name: "an empty file with something else in place of its log",
    code: "image-corrupt",
    says: /no log/,
    files: { "a.db": new Uint8Array(0), "a.db-wal": new Uint8Array(100).fill(7) },
  },
  { name: "a log without its database", code: "image-corrupt", says: /is gone/, files: { "a.db-wal": LOG } },
  {
    name: "something else in place of the log",
    code: "image-corrupt",
    says: /no log/,
    files: { "a.db": golden("checkpointed.db"), "a.db-wal": patched(LOG, 24, 1, 2, 3) },
  },
  {
    name: "a file cut between pages",
    code: "image-corrupt",
    says: /page 11/,
    files: { "a.db": golden("checkpointed.db").subarray(0, 40_960) },
  },
  {
    name: "a format of the future",
    code: "newer-format",
    says: /newer/,
    files: { "a.db": patched(golden("checkpointed.db"), 18, 3, 3) },
  },
  {
    name: "an unfinished transaction of another program",
    code: "hot-journal",
    says: /roll back/,
    files: { "a.db": golden("rollback-mode.db"), "a.db-journal": Uint8Array.of(0xd9, 0xd5, 0x05, 0xf9) },
  },
];

/** A log that holds page 2 alone. */
function partOfLog(): Uint8Array {
  const start = startLog(4096, 0, 1, 2);
  const delta = { pageSize: 4096, pageCount: 2, pages: new Map([[2, new Uint8Array(4096)]]) };
  return new Uint8Array(Buffer.concat([writeHeader(start), new FrameWriter().write(delta, start).bytes]));
}

describe("L7 refused, and left as it is", () => {
  test.each(HOSTILE)("$name", async ({ code, says, files }) => {
    const fake = new FakeOpfs();
    for (const [name, bytes] of Object.entries(files)) fake.put(name, bytes);
    const before = contents(fake);
    const error = await refusalOf(open(fake));
    expect(error).toBeInstanceOf(PerdureError);
    expect(error).toMatchObject({ code, place: "a.db" });
    expect((error as Error).message).toMatch(says);
    expect(contents(fake)).toEqual(before);
    expect(fake.locked).toEqual([]);
  });

  test("nothing, when something must exist", async () => {
    const fake = new FakeOpfs();
    await expect(open(fake, { mustExist: true })).rejects.toMatchObject({ code: "storage-missing" });
    expect(fake.files()).toEqual({});
  });

  test("a database with other tables, closed again without a log beside it", async () => {
    const fake = new FakeOpfs();
    fake.put("a.db", patched(golden("checkpointed.db"), 60, 0, 0, 0, 9));
    const before = contents(fake);
    const adapter = await openOpfs("a.db", { directory: fake.directory });
    await expect(SqliteStore.create(adapter)).rejects.toMatchObject({ code: "newer-format" });
    await adapter.closed;
    expect(contents(fake)).toEqual(before);
  });
});

test("a handle that does not close keeps nobody waiting", async () => {
  const fake = new FakeOpfs();
  const { store, adapter } = await open(fake);
  store.save(sample("a"));
  fake.closing = (name) => {
    if (name === "a.db-wal") throw domError("InvalidStateError");
  };
  store.close();
  await adapter.closed;
  fake.closing = () => {};
  await expect(open(fake)).rejects.toMatchObject({ code: "store-busy" });
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
    const { store } = await open(fake);
    for (let i = 0; i < 20; i++) store.save(sample(`e${i}`));
    const left = fake.afterKill();
    const again = await open(left);
    for (let i = 0; i < 20; i++) expect(again.store.load(`e${i}`)?.version).toBe(1);
    again.store.close();
    await again.adapter.closed;
    expect(Object.keys(left.files())).toEqual(["a.db"]);
    store.close();
  });

  test("L5 a log whose file never got its first commit is finished before it is used", async () => {
    const fake = new FakeOpfs();
    const { store } = await open(fake);
    store.save(sample("one"));
    const { "a.db-wal": log } = fake.files();
    const left = new FakeOpfs();
    left.put("a.db", new Uint8Array(0));
    left.put("a.db-wal", log!);
    const again = await open(left);
    expect(again.store.load("one")?.version).toBe(1);
    const { "a.db": base } = left.files();
    expect(readDatabaseFile({ database: base!, wal: null }, "a.db").pageCount).toBeGreaterThan(5);
    again.store.close();
    store.close();
  });

  test("an empty file is a database that nobody wrote to yet, and no database where one must exist", async () => {
    const fake = new FakeOpfs();
    fake.put("a.db", new Uint8Array(0));
    await expect(open(fake, { mustExist: true })).rejects.toMatchObject({ code: "storage-missing" });
    const { store } = await open(fake);
    store.save(sample("one"));
    store.close();
  });

  test("L6 a log that was folded is started over, and does not grow for ever", async () => {
    const fake = new FakeOpfs();
    const { store } = await open(fake, { checkpointFrames: 50 });
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
    ["uncheckpointed.db", LOG],
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
    const { store, adapter } = await open(fake);
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
    const first = await open(fake);
    first.store.save(sample("one"));
    fake.clear();
    const second = await open(fake);
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
    const { store, adapter } = await open(fake);
    fake.clear();
    const closes: string[] = [];
    fake.closing = (name) => void closes.push(name);
    store.close();
    await adapter.closed;
    expect(closes).toEqual([]);
  });

  test("closed: the commit that met it fails and says why, and so does what follows", async () => {
    const fake = new FakeOpfs();
    const { store, adapter } = await open(fake);
    const one = sample("one");
    store.save(one);
    fake.closeBehind("a.db-wal");
    expect(() => store.save(one)).toThrow("the browser closed");
    expect(one.version).toBe(1);
    expect(() => store.save(one)).toThrow("open it again");
    store.close();
    await adapter.closed;
    const again = await open(fake);
    expect(again.store.load("one")?.version).toBe(1);
    again.store.close();
  });
});
