// Several tabs on one place: who holds the lease and how it changes hands, who is fenced, what is heard of each other, and
// a database that is deleted or made anew behind a store. Time goes on when nothing else does, so waiting costs none.
import { forceCloseDatabase } from "fake-indexeddb";
import { describe, expect, onTestFinished, test } from "vitest";
import { Fenced, StoreBusy, StoreConflict } from "../../src/errors.ts";
import type { AsyncAdapter, PageDelta, Position } from "../../src/port.ts";
import { newExecution } from "../../src/records/codec.ts";
import type { StoreChange } from "../../src/store/subscribers.ts";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { deleteFrom, importInto } from "./manage.ts";
import type { IndexedDbOptions } from "./options.ts";
import { Site, type Tab } from "./testing/site.ts";

const LOCK = "perdure:store";
const PAGE_SIZE = 512;

const order = (id: string): ReturnType<typeof newExecution> => newExecution({ definition_id: "order", id });

async function openStore(tab: Tab, options: IndexedDbOptions = {}): Promise<AsyncSqliteStore> {
  const store = await AsyncSqliteStore.create(adapterOn(tab, "store", options));
  onTestFinished(() => store.close());
  return store;
}

/** An adapter without a store, and the position where it stands. */
async function openAdapter(
  tab: Tab,
  options: IndexedDbOptions = {},
): Promise<{ adapter: AsyncAdapter; position: Position }> {
  const adapter = adapterOn(tab, "store", options);
  onTestFinished(() => adapter.close(null));
  const { position } = await adapter.load();
  return { adapter, position };
}

/** A database of one page, all of it this byte. */
const filled = (byte: number): PageDelta => ({
  pageSize: PAGE_SIZE,
  pageCount: 1,
  pages: new Map([[1, new Uint8Array(PAGE_SIZE).fill(byte)]]),
});

const pagesOf = (byte: number) => ({ ...filled(byte), page: () => new Uint8Array(PAGE_SIZE).fill(byte) });

/** Until what was begun in this turn has come about. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** What somebody who comes anew finds. */
async function stored(site: Site): Promise<number | undefined> {
  const adapter = adapterOn(site.tab(), "store", {});
  const { chunks } = await adapter.load();
  await adapter.close(null);
  return chunks[0]?.[0];
}

describe("the lease", () => {
  test("L4 an idle holder gives it up as soon as somebody wants it", async () => {
    const site = new Site();
    const stores = [await openStore(site.tab()), await openStore(site.tab())];
    const before = site.clock.now();
    for (let i = 0; i < 10; i++) await stores[i % 2]!.save(order(`${i}`));
    expect(site.clock.now(), "nobody had to wait for a timer").toBe(before);
    expect(site.locks.isHeld(LOCK)).toBe(true);
  });

  test("it is kept from commit to commit, and given up when nothing happens", async () => {
    const site = new Site();
    const store = await openStore(site.tab());
    await store.save(order("a"));
    expect(site.locks.isHeld(LOCK)).toBe(true);
    await new Promise<void>((resolve) => {
      site.clock.after(1000, resolve);
    });
    expect(site.locks.isHeld(LOCK)).toBe(false);
    await store.save(order("b"));
  });

  test("L4 a holder at work is waited for, and never robbed", async () => {
    const site = new Site();
    const [a, b] = [await openAdapter(site.tab()), await openAdapter(site.tab(), { busyTimeoutMs: 3000 })];
    const release = await a.adapter.lock();
    const started = site.clock.now();
    await expect(b.adapter.lock()).rejects.toThrow(StoreBusy);
    expect(site.clock.now() - started).toBe(3000);
    await a.adapter.append(filled(1), a.position);
    release();
    (await b.adapter.lock())();
  });

  test("L4 who does not wait at all gets a lease that is free, however long the browser takes to say so", async () => {
    const tab = new Site().tab();
    const locks = tab.locks()!;
    const slow = {
      ...{ query: () => locks.query() },
      async request(name: string, options: LockOptions, run: LockGrantedCallback<unknown>) {
        await new Promise<void>((resolve) => void tab.after(5, resolve));
        return locks.request(name, options, run);
      },
    };
    tab.locks = () => slow as LockManager;
    const { adapter } = await openAdapter(tab, { busyTimeoutMs: 0 });
    (await adapter.lock())();
  });

  test.each([0, 100])("L4 who waits only %i ms robs nobody, not even who is frozen", async (busyTimeoutMs) => {
    const site = new Site();
    const tab = site.tab();
    const [a, b] = [await openAdapter(tab), await openAdapter(site.tab(), { busyTimeoutMs })];
    const release = await a.adapter.lock();
    tab.freeze();
    await expect(b.adapter.lock()).rejects.toThrow(StoreBusy);
    tab.thaw();
    await a.adapter.append(filled(1), a.position);
    release();
  });

  test("L4 a frozen holder is robbed, and fenced when it wakes up", async () => {
    const site = new Site();
    const tab = site.tab();
    const [a, b] = [await openAdapter(tab), await openAdapter(site.tab())];
    const release = await a.adapter.lock();
    tab.freeze();
    const releaseB = await b.adapter.lock();
    await b.adapter.append(filled(2), b.position);
    releaseB();
    tab.thaw();
    await expect(a.adapter.append(filled(1), a.position)).rejects.toThrow(Fenced);
    release();
    (await a.adapter.lock())();
    expect(await stored(site)).toBe(2);
  });

  test("L2 L4 fenced too when its number is free again: others have folded meanwhile", async () => {
    const site = new Site();
    const tab = site.tab();
    const [a, b] = [await openAdapter(tab), await openAdapter(site.tab(), { foldBytes: 1 })];
    await a.adapter.lock();
    tab.freeze();
    const releaseB = await b.adapter.lock();
    let { position } = b;
    for (let byte = 2; byte < 9; byte++) {
      position = await b.adapter.append(filled(byte), position);
      await b.adapter.checkpoint(pagesOf(byte));
    }
    releaseB();
    tab.thaw();
    await expect(a.adapter.append(filled(1), a.position)).rejects.toThrow(Fenced);
    expect(await stored(site)).toBe(8);
    // So far behind that it gets the whole.
    const news = await a.adapter.pull(a.position, { ...pagesOf(0), pageCount: 0 });
    expect(news?.image?.chunks[0]?.[0]).toBe(8);
  });

  test("L2 L4 a fold that comes too late changes nothing", async () => {
    const site = new Site();
    const tab = site.tab();
    const [a, b] = [await openAdapter(tab, { foldBytes: 1 }), await openAdapter(site.tab(), { foldBytes: 1 })];
    await a.adapter.lock();
    const at1 = await a.adapter.append(filled(1), a.position);
    tab.freeze();
    const releaseB = await b.adapter.lock();
    const at2 = await b.adapter.append(filled(2), at1);
    await b.adapter.checkpoint(pagesOf(2));
    await b.adapter.append(filled(3), at2);
    releaseB();
    tab.thaw();
    await a.adapter.checkpoint(pagesOf(1));
    expect(await stored(site)).toBe(3);
  });

  test("two that wait for a frozen one get it one after the other", async () => {
    const site = new Site();
    const tab = site.tab();
    const holder = await openAdapter(tab);
    await holder.adapter.lock();
    tab.freeze();
    const stores = [await openAdapter(site.tab()), await openAdapter(site.tab()), await openAdapter(site.tab())];
    const got: number[] = [];
    const take = async ({ adapter }: { adapter: AsyncAdapter }, i: number): Promise<void> => {
      const release = await adapter.lock();
      got.push(i);
      // Longer than it takes to be thought frozen.
      await new Promise<void>((resolve) => {
        site.clock.after(1500, resolve);
      });
      expect(got.at(-1), "nobody else came in between").toBe(i);
      release();
    };
    await Promise.all(stores.map(take));
    expect(got.sort((a, b) => a - b)).toEqual([0, 1, 2]);
  });

  test("where tabs cannot talk it is given up at once, and nobody is robbed", async () => {
    const site = new Site();
    const quiet = (): Tab => Object.assign(site.tab(), { hasChannels: false });
    const [a, b] = [await openAdapter(quiet()), await openAdapter(quiet())];
    const release = await a.adapter.lock();
    await expect(b.adapter.lock()).rejects.toThrow(StoreBusy);
    release();
    await turn();
    expect(site.locks.isHeld(LOCK)).toBe(false);
    (await b.adapter.lock())();
    const [c, d] = [await openStore(quiet()), await openStore(quiet())];
    await c.save(order("a"));
    expect((await d.load("a"))?.version).toBe(1);
  });

  test("a page that may stop gives up what it holds, and takes back what it asked for", async () => {
    const site = new Site();
    const [first, second] = [site.tab(), site.tab()];
    const [a, b] = [await openAdapter(first), await openAdapter(second)];
    (await a.adapter.lock())();
    expect(site.locks.isHeld(LOCK)).toBe(true);
    first.tell("suspend");
    await turn();
    expect(site.locks.isHeld(LOCK)).toBe(false);
    first.tell("resume");
    const release = await a.adapter.lock();
    const waiting = b.adapter.lock();
    await turn();
    expect(site.locks.waiting(LOCK)).toBe(1);
    second.tell("suspend");
    expect(site.locks.waiting(LOCK)).toBe(0);
    second.tell("resume");
    release();
    (await waiting)();
  });

  test("without Web Locks writing is refused, and says why", async () => {
    const site = new Site();
    const opening = openStore(Object.assign(site.tab(), { hasLocks: false }));
    await expect(opening).rejects.toMatchObject({ code: "unsupported", message: expect.stringMatching(/https/) });
  });

  test("closing gives back everything", async () => {
    const site = new Site();
    const store = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", {}));
    await store.save(order("a"));
    await store.close();
    await turn();
    expect(site.locks.isHeld(LOCK)).toBe(false);
    expect(site.channels.size).toBe(0);
    await deleteFrom(site.tab(), "store");
  });
});

describe("others", () => {
  test("L4 many tabs at once lose no update, and nobody is fenced", async () => {
    const site = new Site();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(site.tab(), { foldBytes: 30_000 })));
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
