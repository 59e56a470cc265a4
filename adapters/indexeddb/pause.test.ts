// A page that is stopped, as when it is left and kept for going back: nobody waits for what it had under way, and when it
// goes on nothing is lost, nothing is there twice, and nothing that was acknowledged is gone.
import { describe, expect, test } from "vitest";
import type { StoreChange } from "../../src/store/subscribers.ts";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { deleteFrom } from "./manage.ts";
import { FaultyIndexedDb, type StepKind } from "./testing/faults.ts";
import { LOCK, openStore as openOn, order } from "./testing/opening.ts";
import { Site, type Tab } from "./testing/site.ts";

const openStore = (tab: Tab): Promise<AsyncSqliteStore> => openOn(tab, { foldBytes: 1 });

/** A tab that is told to stop, and stops, right after the step that `when` names. */
function stoppingTab(site: Site): { tab: Tab; steps: StepKind[]; stopAfter(step: number): Promise<void> } {
  const tab = site.tab();
  const faulty = new FaultyIndexedDb(site.indexedDB, site.clock);
  tab.factory = () => faulty.factory;
  let at: number | null = null;
  let stopped = (): void => {};
  faulty.plan = (_, step) => {
    if (step !== at) return null;
    // Events of the page come one after another: this one waits for the code that runs.
    setImmediate(() => {
      tab.tell("suspend");
      tab.freeze();
      stopped();
    });
    return null;
  };
  const stopAfter = (step: number): Promise<void> => {
    at = step;
    return new Promise((resolve) => {
      stopped = resolve;
    });
  };
  return { tab, steps: faulty.steps, stopAfter };
}

/** As a browser does it. */
function goOn(tab: Tab): void {
  tab.thaw();
  tab.tell("resume");
}

/** A store that is opened and writes; the numbers of its steps. */
async function live(tab: Tab): Promise<void> {
  const store = await AsyncSqliteStore.create(adapterOn(tab, "store", { foldBytes: 1 }));
  const mine = order("mine");
  await store.commit(mine, { emits: [{ event: { kind: "First" } }] });
  await store.commit(mine, { emits: [{ event: { kind: "Second" } }] });
  await store.close();
}

describe("a page that is stopped", () => {
  test(
    "L1 L2 L4 at whatever step: others write at once, and it goes on where it was",
    { timeout: 300_000 },
    async () => {
      const rehearsal = stoppingTab(new Site());
      await live(rehearsal.tab);
      expect(rehearsal.steps.length).toBeGreaterThan(10);
      for (const step of rehearsal.steps.keys()) {
        const site = new Site();
        const { tab, stopAfter } = stoppingTab(site);
        const isStopped = stopAfter(step);
        const done = live(tab);
        await isStopped;
        const other = await openStore(site.tab());
        const before = site.clock.now();
        await other.commit(order("theirs"), { emits: [{ event: { kind: "Theirs" } }] });
        expect(site.clock.now(), `step ${step}: nobody had to wait for a timer`).toBe(before);
        goOn(tab);
        await done;
        const kinds = (await other.pendingOutbox()).map(({ event }) => event.kind);
        expect(kinds.sort(), `step ${step}: each once`).toEqual(["First", "Second", "Theirs"]);
        expect((await other.load("mine"))?.version).toBe(2);
        expect(await other.verify()).toEqual([]);
      }
    },
  );

  test("L7 it holds up nobody who deletes the database, and is told when it goes on", async () => {
    const site = new Site();
    const tab = site.tab();
    const store = await openStore(tab);
    await store.save(order("a"));
    tab.tell("suspend");
    tab.freeze();
    await deleteFrom(site.tab(), "store");
    goOn(tab);
    await expect(store.load("a")).rejects.toMatchObject({ code: "storage-missing" });
  });

  test("it has no channel, so that it may be kept, and is told to look anywhere when it goes on", async () => {
    const site = new Site();
    const tab = site.tab();
    const [mine, theirs] = [await openStore(tab), await openStore(site.tab())];
    const heard: StoreChange[] = [];
    mine.subscribe((change) => heard.push(change));
    tab.tell("suspend");
    tab.freeze();
    expect(site.channels.size).toBe(1);
    await theirs.save(order("a"));
    goOn(tab);
    expect(site.channels.size).toBe(2);
    expect(heard).toMatchObject([{ origin: "remote", executionIds: null }]);
    const news = new Promise<void>((resolve) => {
      mine.subscribe(({ executionIds }) => executionIds?.includes("b") && resolve());
    });
    await theirs.save(order("b"));
    await news;
    expect((await mine.load("a"))?.version).toBe(1);
  });

  test("a page that was told so and goes on all the same is held up for a moment only", async () => {
    const site = new Site();
    const tab = site.tab();
    const store = await openStore(tab);
    tab.tell("suspend");
    await store.save(order("a"));
    expect((await store.load("a"))?.version).toBe(1);
    expect(site.locks.isHeld(LOCK)).toBe(true);
  });

  test("closing waits until it goes on, and gives back everything", async () => {
    const site = new Site();
    const tab = site.tab();
    const store = await AsyncSqliteStore.create(adapterOn(tab, "store", {}));
    tab.tell("suspend");
    const saved = store.save(order("a"));
    const closed = store.close();
    tab.tell("resume");
    await Promise.all([saved, closed]);
    expect(site.channels.size).toBe(0);
    await deleteFrom(site.tab(), "store");
  });
});

describe("durability", () => {
  test("L2 L8 strict is supported where transactions can be told so, and nowhere else", async () => {
    const site = new Site();
    expect(adapterOn(site.tab(), "store", {}).supports.strict).toBe(true);
    const old = Object.assign(site.tab(), { knowsDurability: false });
    expect(adapterOn(old, "store", {}).supports).toEqual({ durable: true, shared: true, strict: false });
    const store = await openStore(old);
    await store.save(order("a"));
    expect((await store.load("a"))?.version).toBe(1);
  });
});
