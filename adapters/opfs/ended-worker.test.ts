// L4 against a worker that was ended: the browser gives its files to the next one, and for a moment it goes on. Whole calls
// of it here; last-call.test.ts holds it up in the middle of one.
import { expect, test, vi } from "vitest";
import { newExecution } from "../../src/records/codec.ts";
import { PerdureError, SqliteStore } from "../browser.ts";
import { openOpfs, type OpfsOptions } from "./index.ts";
import { asInBrowsers } from "./testing/as-in-browsers.ts";
import { domError, FakeOpfs } from "./testing/fake-opfs.ts";

const open = async (fake: FakeOpfs, options: OpfsOptions = {}): Promise<SqliteStore> =>
  SqliteStore.create(await openOpfs("a.db", { directory: fake.directory, busyTimeoutMs: 0, ...options }));

/** One more Execution. Whether it was acknowledged. */
function saveNew(store: SqliteStore, id: string): boolean {
  try {
    store.save(newExecution({ id, definition_id: "order", context: { text: "x".repeat(3000) } }));
    return true;
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    return false;
  }
}

test("L4 who opens what nobody closed has it from then on, and waits for a write under way before it reads", async () => {
  asInBrowsers();
  const fake = new FakeOpfs();
  const ended = await open(fake);
  saveNew(ended, "a");
  fake.endWorker();
  let isOpen = false;
  const opening = open(fake).finally(() => (isOpen = true));
  await vi.advanceTimersByTimeAsync(60);
  expect(saveNew(ended, "b")).toBe(false);
  expect(() => ended.load("a")).toThrow("another worker");
  expect(isOpen).toBe(false);
  await vi.advanceTimersByTimeAsync(60);
  const next = await opening;
  expect(next.load("a")).not.toBeNull();
  next.close();
});

test("L4 files that somebody else claims again and again are busy", async () => {
  asInBrowsers();
  const fake = new FakeOpfs();
  saveNew(await open(fake), "a");
  fake.endWorker();
  const opening = open(fake, { busyTimeoutMs: 250 }).catch((error: unknown) => error);
  for (let i = 0; i < 6; i++) {
    await vi.advanceTimersByTimeAsync(60);
    const { "a.db-wal": log } = fake.files();
    fake.lay({ "a.db-wal": new Uint8Array([...log!, 0, 0]) });
  }
  expect(await opening).toMatchObject({ code: "store-busy" });
  expect(fake.locked).toEqual([]);
});

test("nobody waits for a database that was closed", async () => {
  asInBrowsers();
  const fake = new FakeOpfs();
  const first = await openOpfs("a.db", { directory: fake.directory });
  const store = await SqliteStore.create(first);
  saveNew(store, "a");
  store.close();
  await first.closed;
  const next = await open(fake);
  expect(next.load("a")).not.toBeNull();
  next.close();
});

test.each([4000, 3])(
  "L4 later, one of the two is over, and what the other one acknowledged is there (%d)",
  async (frames) => {
    for (const late of [1, 3]) {
      const fake = new FakeOpfs();
      const ended = await open(fake, { checkpointFrames: frames });
      saveNew(ended, "a");
      fake.endWorker();
      const next = await open(fake, { checkpointFrames: frames });
      const acknowledged = ["c", "d", "e"].filter((id) => saveNew(next, id));
      expect(acknowledged).toEqual(["c", "d", "e"]);
      for (let i = 0; i < late; i++) expect(saveNew(ended, `late ${i}`)).toBe(false);
      acknowledged.push(...["f", "g"].filter((id) => saveNew(next, id)));
      expect(acknowledged.length).toBe(5);
      expect(next.verify()).toEqual([]);
      for (const left of [fake.afterKill(), fake]) {
        if (left === fake) next.close();
        const last = await open(left);
        for (const id of ["a", ...acknowledged]) expect(last.load(id)).not.toBeNull();
        expect(last.verify()).toEqual([]);
        last.close();
      }
    }
  },
);

test("L4 where there was no room for a claim, who finds another's commit behind its end does not write over it", async () => {
  const fake = new FakeOpfs();
  const ended = await open(fake);
  saveNew(ended, "a");
  fake.endWorker();
  fake.before = (call) => {
    if (call === "truncate") throw domError("QuotaExceededError");
  };
  const next = await open(fake);
  expect(saveNew(ended, "late")).toBe(true);
  fake.before = () => {};
  expect(saveNew(next, "c")).toBe(false);
  next.close();
  const last = await open(fake.afterKill());
  for (const id of ["a", "late"]) expect(last.load(id)).not.toBeNull();
  last.close();
});

test("L4 what it had still to put right is left to the next one, and it says why", async () => {
  const fake = new FakeOpfs();
  const ended = await open(fake);
  saveNew(ended, "a");
  fake.before = (call) => {
    if (call === "flush") throw domError("UnknownError");
  };
  expect(saveNew(ended, "b")).toBe(false);
  fake.before = () => {};
  fake.endWorker();
  const next = await open(fake);
  saveNew(next, "c");
  const late = newExecution({ id: "late", definition_id: "order" });
  expect(() => ended.save(late)).toThrow(expect.objectContaining({ code: "storage-replaced" }));
  expect(next.verify()).toEqual([]);
  next.close();
});

test("a store that is open holds a lock that keeps nobody out: no browser puts its page aside, worker, files and all", async () => {
  const held = new Set<string>();
  const request = async (name: string, { mode }: LockOptions, work: () => Promise<void>): Promise<void> => {
    expect(mode).toBe("shared");
    held.add(name);
    await work();
    held.delete(name);
  };
  vi.stubGlobal("navigator", { locks: { request } });
  try {
    const adapter = await openOpfs("a.db", { directory: new FakeOpfs().directory });
    expect([...held]).toEqual(["perdure-opfs:a.db"]);
    adapter.close(null);
    await adapter.closed;
    await vi.waitFor(() => expect([...held]).toEqual([]));
  } finally {
    vi.unstubAllGlobals();
  }
});
