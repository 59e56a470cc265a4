// The log is folded when a store is not used for a while, so that commits in a row need not; and whatever happens meanwhile,
// the base is never written from pages that are not what storage has (L4).
import { expect, test } from "vitest";
import type { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { newExecution } from "../../src/records/codec.ts";
import { FaultyIndexedDb } from "./testing/faults.ts";
import { filled, openAdapter, openStore, order } from "./testing/opening.ts";
import { Site, type Tab } from "./testing/site.ts";
import { raw } from "./testing/stored.ts";

/** The log is long after some commits, and not so long that a commit would fold it. */
const FOLD_BYTES = 12_000;
/** What commits in a row may leave of the log: see fold.ts. */
const LONGEST = 8;

interface Stored {
  readonly blocks: number;
  readonly records: number;
}

async function stored(site: Site): Promise<Stored> {
  const keys = (await raw(site)).map(([[kind]]) => kind);
  return {
    blocks: keys.filter((kind) => kind === "base").length,
    records: keys.filter((kind) => kind === "log").length,
  };
}

/** Timers that are not run: the test does. */
function holdTimers(tab: Tab): { readonly ms: number; readonly work: () => void }[] {
  const held: { readonly ms: number; readonly work: () => void }[] = [];
  const { after } = tab;
  tab.after = (ms, work) => {
    if (ms !== 5000) return after.call(tab, ms, work);
    const one = { ms, work };
    held.push(one);
    return () => void held.splice(held.indexOf(one), held.includes(one) ? 1 : 0);
  };
  return held;
}

async function saveMany(store: AsyncSqliteStore, prefix: string, count = 40): Promise<void> {
  for (let i = 0; i < count; i++) await store.save(order(`${prefix}${i}`));
}

/** Lets what waits for a store that is not used begin, does `act` when it has, and waits until both can do no more. */
async function inTheMiddle(
  site: Site,
  timers: ReturnType<typeof holdTimers>,
  act: () => Promise<unknown>,
): Promise<void> {
  await new Promise((resolve) => {
    site.clock.after(6000, () => {
      timers.shift()!.work();
      resolve(act());
    });
  });
  await new Promise<void>((resolve) => void site.clock.after(1000, resolve));
}

const afterQuiet = (site: Site, timers: ReturnType<typeof holdTimers>): Promise<void> =>
  inTheMiddle(site, timers, async () => {});

/** Until the site has as few records as this. */
async function untilFolded(site: Site, records: number): Promise<Stored> {
  for (;;) {
    const found = await stored(site);
    if (found.records <= records) return found;
  }
}

test("L6 commits in a row do not fold; when nothing happens for a while all of the log is folded", async () => {
  const site = new Site();
  const tab = site.tab();
  const timers = holdTimers(tab);
  const store = await openStore(tab, { foldBytes: FOLD_BYTES });
  await saveMany(store, "a");
  expect(await stored(site)).toMatchObject({ blocks: 0 });
  expect(timers).toHaveLength(1);
  site.clock.after(6000, () => timers.shift()!.work());
  expect(await untilFolded(site, 1)).toEqual({ blocks: 1, records: 1 });
  const other = await openStore(site.tab());
  expect((await other.listExecutions()).items).toHaveLength(40);
  expect(await other.verify()).toEqual([]);
});

test("L6 commits that never stop fold the log when it is eight times as long", async () => {
  const site = new Site();
  const tab = site.tab();
  holdTimers(tab);
  const store = await openStore(tab, { foldBytes: 2000 });
  let bytes = 0;
  for (let i = 0; bytes <= 2000 * LONGEST; i++) {
    expect((await stored(site)).blocks).toBe(0);
    await store.save(order(`${i}`));
    const values = (await raw(site)).filter(([[kind]]) => kind === "log").map(([, value]) => value as Uint8Array);
    bytes = values.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
  await saveMany(store, "more", 10);
  expect((await stored(site)).blocks).toBe(1);
});

test("a log that is short arms no timer, and a store that was closed folds nothing", async () => {
  const site = new Site();
  const tab = site.tab();
  const timers = holdTimers(tab);
  const store = await openStore(tab, { foldBytes: FOLD_BYTES });
  await store.save(order("a"));
  const before = timers.length;
  await saveMany(store, "b");
  const armed = timers.length;
  await store.close();
  expect([before, armed, timers.length]).toEqual([0, 1, 0]);
});

test("L4 who does not know yet what others wrote does not fold", async () => {
  const site = new Site();
  const tab = site.tab();
  const timers = holdTimers(tab);
  const mine = await openStore(tab, { foldBytes: FOLD_BYTES });
  const theirs = await openStore(site.tab(), { foldBytes: 1_000_000 });
  await saveMany(mine, "a");
  await theirs.save(order("theirs"));
  await afterQuiet(site, timers);
  expect((await stored(site)).blocks).toBe(0);
  // Having looked, it does.
  expect(await mine.load("theirs")).not.toBeNull();
  expect(await mine.load("a0")).not.toBeNull();
  site.clock.after(6000, () => timers.shift()!.work());
  expect((await untilFolded(site, 1)).blocks).toBe(1);
  expect(await (await openStore(site.tab())).load("theirs")).not.toBeNull();
});

test("L4 pages of which the store was told that they are others' now are never folded", async () => {
  const site = new Site();
  const tab = site.tab();
  const timers = holdTimers(tab);
  const { adapter, position } = await openAdapter(tab, { foldBytes: 1000 });
  const others = await openAdapter(site.tab(), { foldBytes: 1_000_000 });
  let at = position;
  // Pages as the store has them, to which it never takes what the others write.
  const pages = { pageSize: 512, pageCount: 1, page: () => filled(1).pages.get(1)! };
  for (let i = 0; i < 3; i++) at = await adapter.append(filled(1), at);
  await adapter.checkpoint(pages);
  const { position: theirs } = (await others.adapter.pull(others.position, pages))!;
  await others.adapter.append(filled(2), theirs);
  expect(await adapter.pull(at, pages)).not.toBeNull();
  await afterQuiet(site, timers);
  expect((await stored(site)).blocks).toBe(0);
});

/** Text that is not all zeros: a database of three slices. */
const LARGE_BLOCKS = 11;
const LARGE = Array.from({ length: 350_000 }, (_, i) => `${i * 7919}`.padEnd(8).slice(0, 8)).join("");
const large = (text = LARGE): ReturnType<typeof newExecution> =>
  newExecution({ definition_id: "order", id: "large", context: { text } });

test.each<[string, (store: AsyncSqliteStore) => Promise<unknown>, readonly string[]]>([
  ["a commit", (store) => store.save(order("during")), ["before", "during", "large"]],
  ["a read", (store) => store.load("before"), ["before", "large"]],
])(
  "L2 L6 %s in the middle of a folding comes first; nothing is lost, and the rest is folded later",
  async (_, use, ids) => {
    const site = new Site();
    const tab = site.tab();
    const timers = holdTimers(tab);
    const store = await openStore(tab, { foldBytes: 1_000_000 });
    await store.save(large());
    await store.save(order("before"));
    expect((await stored(site)).blocks).toBe(0);
    await inTheMiddle(site, timers, () => use(store));
    const { blocks } = await stored(site);
    expect(blocks).toBeGreaterThan(0);
    expect(blocks).toBeLessThan(LARGE_BLOCKS);
    site.clock.after(6000, () => timers.shift()!.work());
    expect(await untilFolded(site, 1)).toEqual({ blocks: LARGE_BLOCKS, records: 1 });
    const other = await openStore(site.tab());
    expect((await other.listExecutions()).items.map(({ id }) => id)).toEqual(ids);
    expect(await other.verify()).toEqual([]);
  },
);

test("a store that is closed in the middle of a folding does not open its place again for the rest", async () => {
  const site = new Site();
  const tab = site.tab();
  const timers = holdTimers(tab);
  const faulty = new FaultyIndexedDb(site.indexedDB, site.clock);
  tab.factory = () => faulty.factory;
  const store = await openStore(tab, { foldBytes: 1_000_000 });
  await store.save(large());
  await store.save(order("after"));
  const opened = faulty.steps.filter((step) => step === "open").length;
  await inTheMiddle(site, timers, () => store.close());
  expect((await stored(site)).blocks).toBeLessThan(LARGE_BLOCKS);
  expect(faulty.steps.filter((step) => step === "open")).toHaveLength(opened);
  expect((await (await openStore(site.tab())).listExecutions()).items).toHaveLength(2);
});

test("L6 a log of one record, which is kept whatever was folded, arms no timer", async () => {
  const site = new Site();
  const tab = site.tab();
  const timers = holdTimers(tab);
  const store = await openStore(tab, { foldBytes: 4000 });
  await saveMany(store, "a", 3);
  await store.save(newExecution({ definition_id: "order", id: "large", context: { text: "x".repeat(9000) } }));
  expect((await stored(site)).blocks).toBe(0);
  site.clock.after(6000, () => timers.shift()!.work());
  await untilFolded(site, 1);
  await new Promise<void>((resolve) => void site.clock.after(1000, resolve));
  expect(await store.load("large")).not.toBeNull();
  expect(timers).toHaveLength(0);
});

test("L6 what fails while idle does not keep commits from folding later on", async () => {
  const site = new Site();
  const tab = site.tab();
  const timers = holdTimers(tab);
  const faulty = new FaultyIndexedDb(site.indexedDB, site.clock);
  tab.factory = () => faulty.factory;
  const store = await openStore(tab, { foldBytes: 2000 });
  await saveMany(store, "a", 4);
  expect((await stored(site)).blocks).toBe(0);
  for (let i = 0; i < 20; i++) {
    faulty.plan = (kind) => (kind === "commit" ? "aborts for the quota" : null);
    await afterQuiet(site, timers);
    faulty.plan = () => null;
    await store.load("a0");
    expect(timers).toHaveLength(1);
  }
  await saveMany(store, "b", 60);
  expect((await stored(site)).blocks).toBe(1);
});

test("L6 no commit folds a whole log that was found too long when the store was opened", async () => {
  const site = new Site();
  const before = await openStore(site.tab(), { foldBytes: 1_000_000_000 });
  await before.save(large());
  await before.close();
  const tab = site.tab();
  holdTimers(tab);
  const store = await openStore(tab, { foldBytes: 100_000 });
  await store.save(order("small"));
  expect((await stored(site)).blocks).toBe(0);
  // What is appended from then on counts.
  for (let i = 0; (await stored(site)).blocks < LARGE_BLOCKS; i++) {
    await store.save({ ...large(LARGE.slice(0, 50_000)), id: `${i}` });
    expect(i).toBeLessThan(20);
  }
});
