// The lease of several tabs on one place: who holds it, how it changes hands, and who is fenced. Time goes on when nothing
// else does, so waiting costs none.
import { describe, expect, test } from "vitest";
import { Fenced, StoreBusy } from "../../src/errors.ts";
import type { AsyncAdapter, Pages } from "../../src/port.ts";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { deleteFrom } from "./manage.ts";
import { filled, LOCK, openAdapter, openStore, order, turn } from "./testing/opening.ts";
import { Site, type Tab } from "./testing/site.ts";

/** A database of one page, as what a fold copies. */
const pagesOf = (byte: number): Pages => ({ ...filled(byte), page: (number) => filled(byte).pages.get(number)! });

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
