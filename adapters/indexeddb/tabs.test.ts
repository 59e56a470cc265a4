// Several tabs on one place: what is heard of each other, a database that is deleted or made anew behind a store, and what
// is not there, or somebody else's.
import { forceCloseDatabase } from "fake-indexeddb";
import { describe, expect, test } from "vitest";
import { Fenced, StoreConflict } from "../../src/errors.ts";
import type { StoreChange } from "../../src/store/subscribers.ts";
import type { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { deleteFrom, importInto } from "./manage.ts";
import { filled, LOCK, openAdapter, openStore, order } from "./testing/opening.ts";
import { Site, type Tab } from "./testing/site.ts";

describe("others", () => {
  test("L4 many tabs at once lose no update, and nobody is fenced", async () => {
    const site = new Site();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(site.tab(), { foldBytes: 4000 })));
    await stores[0]!.save(order("a"));
    const increment = async (store: AsyncSqliteStore): Promise<void> => {
      for (;;) {
        const exe = (await store.load("a"))!;
        exe.context["n"] = ((exe.context["n"] as number | undefined) ?? 0) + 1;
        try {
          return await store.save(exe);
        } catch (error) {
          if (!(error instanceof StoreConflict)) throw error;
        }
      }
    };
    await Promise.all(
      stores.map(async (store) => {
        for (let i = 0; i < 25; i++) await increment(store);
      }),
    );
    const exe = await (await openStore(site.tab())).load("a");
    expect([exe?.version, exe?.context["n"]]).toEqual([101, 100]);
  });

  test("what became durable is told to the other stores, and going on tells to look anywhere", async () => {
    const site = new Site();
    const tab = site.tab();
    const [mine, theirs] = [await openStore(site.tab()), await openStore(tab)];
    const heard: StoreChange[] = [];
    const listening = new Promise<void>((resolve) => {
      theirs.subscribe((change) => {
        heard.push(change);
        resolve();
      });
    });
    await Promise.all([mine.save(order("a")), mine.save(order("b"))]);
    await listening;
    expect(heard).toEqual([{ origin: "remote", kinds: ["executions"], executionIds: ["a", "b"] }]);
    tab.tell("resume");
    expect(heard[1]).toMatchObject({ origin: "remote", executionIds: null });
    expect(heard[1]!.kinds).toContain("timers");
  });

  /** The Executions that each message to others named, of commits that follow each other. */
  async function told(tab: Tab, site: Site, ids: readonly string[]): Promise<(readonly string[] | null)[]> {
    const [mine, theirs] = [await openStore(tab), await openStore(site.tab())];
    const heard: (readonly string[] | null)[] = [];
    const all = new Promise<void>((resolve) => {
      theirs.subscribe(({ executionIds }) => {
        heard.push(executionIds);
        if (executionIds?.includes(ids.at(-1)!) === true) resolve();
      });
    });
    for (const id of ids) await mine.save(order(id));
    await all;
    return heard;
  }

  test("commits in quick succession: the first is told at once, the others together", async () => {
    const site = new Site();
    expect(await told(site.tab(), site, ["a", "b", "c", "d"])).toEqual([["a"], ["b", "c", "d"]]);
  });

  test("in a hidden page, where timers are late, nothing that is told waits for one", async () => {
    const site = new Site();
    const tab = site.tab();
    tab.hidden = true;
    let timers = 0;
    const { after } = tab;
    tab.after = (ms, work) => {
      if (ms < 100) timers++;
      return after.call(tab, ms, work);
    };
    expect((await told(tab, site, ["a", "b", "c", "d"])).flat()).toEqual(["a", "b", "c", "d"]);
    expect(timers).toBe(0);
  });

  test("L7 deleted behind a store: told as missing, and nothing is made anew", async () => {
    const site = new Site();
    const store = await openStore(site.tab());
    await store.save(order("a"));
    await deleteFrom(site.tab(), "store");
    await expect(store.load("a")).rejects.toMatchObject({ code: "storage-missing" });
    await expect(store.save(order("b"))).rejects.toMatchObject({ code: "storage-missing" });
    await expect(openStore(site.tab(), { mustExist: true })).rejects.toMatchObject({ code: "storage-missing" });
  });

  test("L7 deleted and made anew behind a store: told as replaced, and left alone", async () => {
    const site = new Site();
    const store = await openStore(site.tab());
    await store.save(order("a"));
    await deleteFrom(site.tab(), "store");
    const other = await openStore(site.tab());
    await other.save(order("b"));
    await expect(store.load("a")).rejects.toMatchObject({ code: "storage-replaced" });
    await expect(store.save(order("a"))).rejects.toMatchObject({ code: "storage-replaced" });
    expect((await other.listExecutions()).items.map(({ id }) => id)).toEqual(["b"]);
  });

  test("deleting waits for a tab that does not let go, in bounded time", async () => {
    const site = new Site();
    const held = await new Promise<IDBDatabase>((resolve) => {
      const request = site.indexedDB.open(LOCK, 1);
      request.addEventListener("success", () => resolve(request.result));
    });
    const deleting = deleteFrom(site.tab(), "store");
    await expect(deleting).rejects.toMatchObject({ code: "open-timeout", message: expect.stringMatching(/let go/) });
    forceCloseDatabase(held as never);
  });

  test("L7 a database laid into a place that a store has open as empty is not written over", async () => {
    const site = new Site();
    const source = await openStore(new Site().tab());
    await source.save(order("imported"));
    const database = await source.exportDatabase();
    const { adapter, position } = await openAdapter(site.tab());
    await importInto(site.tab(), "store", { database, wal: null });
    const release = await adapter.lock();
    await expect(adapter.append(filled(1), position)).rejects.toThrow(Fenced);
    release();
    await expect(importInto(site.tab(), "store", { database, wal: null })).rejects.toMatchObject({
      code: "storage-exists",
    });
    const store = await openStore(site.tab(), { mustExist: true });
    expect((await store.load("imported"))?.version).toBe(1);
  });
});

describe("what is not there, or somebody else's", () => {
  test("L7 nothing, when something must exist: nothing is made", async () => {
    const site = new Site();
    await expect(openStore(site.tab(), { mustExist: true })).rejects.toMatchObject({ code: "storage-missing" });
    expect(await site.indexedDB.databases()).toEqual([]);
  });

  test("no IndexedDB, or none that may be looked at", async () => {
    const site = new Site();
    const none = Object.assign(site.tab(), { factory: () => undefined });
    await expect(openStore(none)).rejects.toMatchObject({ code: "unsupported" });
    const forbidden = Object.assign(site.tab(), {
      factory: () => {
        throw new DOMException("no", "SecurityError");
      },
    });
    await expect(openStore(forbidden)).rejects.toMatchObject({ code: "storage-denied" });
    await expect(deleteFrom(none, "store")).rejects.toMatchObject({ code: "unsupported" });
    await expect(deleteFrom(forbidden, "store")).rejects.toMatchObject({ code: "storage-denied" });
  });

  test.each([
    ["the app's own database", 1, "not-a-database"],
    ["a newer version's", 2, "newer-format"],
  ])("L7 %s is refused and left alone", async (_, version, code) => {
    const site = new Site();
    const db = await new Promise<IDBDatabase>((resolve) => {
      const request = site.indexedDB.open(LOCK, version);
      request.addEventListener("upgradeneeded", () => request.result.createObjectStore("theirs").put(1, "key"));
      request.addEventListener("success", () => resolve(request.result));
    });
    await expect(openStore(site.tab())).rejects.toMatchObject({ code });
    expect([...db.objectStoreNames]).toEqual(["theirs"]);
    db.close();
  });

  test("names and options that cannot be", () => {
    const { tab } = { tab: new Site().tab() };
    expect(() => adapterOn(tab, "", {})).toThrow(/expected a name/);
    expect(() => adapterOn(tab, "a", { openTimeoutMs: 0 })).toThrow(/openTimeoutMs/);
    expect(() => adapterOn(tab, "a", { foldbytes: 1 } as never)).toThrow(/not known/);
  });
});
