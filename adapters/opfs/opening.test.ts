// Opening a database in the origin private file system: which names there are, what the platform may lack, and one store
// at a time.
import { describe, expect, test } from "vitest";
import { SqliteStore } from "../browser.ts";
import { deleteOpfs, importOpfs, openOpfs } from "./index.ts";
import { domError, FakeOpfs } from "./testing/fake-opfs.ts";
import { openStore, refusalOf, sample } from "./testing/stores.ts";

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
    // There was none.
    expect((error as Error).message).not.toContain("commit");
  });
});

describe("one store at a time (L4)", () => {
  test("another one is told that the place is busy, and gets it when the first is closed", async () => {
    const fake = new FakeOpfs();
    const first = await openStore(fake);
    await expect(openStore(fake)).rejects.toMatchObject({ code: "store-busy" });
    await expect(deleteOpfs("a.db", { directory: fake.directory, busyTimeoutMs: 0 })).rejects.toMatchObject({
      code: "store-busy",
    });
    const waiting = openStore(fake, { busyTimeoutMs: 60_000 });
    first.store.save(sample("one"));
    first.store.close();
    const second = await waiting;
    expect(second.store.load("one")?.version).toBe(1);
    second.store.close();
  });

  test("opened again right after closing, there is nothing to wait for", async () => {
    const fake = new FakeOpfs();
    for (let i = 0; i < 5; i++) {
      const { store } = await openStore(fake);
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
    const { store } = await openStore(fake, { busyTimeoutMs: 60_000 });
    store.save(sample("one"));
    store.close();
  });
});
