// L4 against a worker that was ended: the browser gives its files to the next one, and for a moment it goes on committing.
// Nobody hears what it acknowledges then; but what the next one acknowledges must be there, and the file must be whole.
import { expect, onTestFinished, test, vi } from "vitest";
import { pagesOf } from "../../src/port.ts";
import { newExecution } from "../../src/records/codec.ts";
import { PerdureError, SqliteStore } from "../browser.ts";
import { openOpfs, type OpfsOptions } from "./index.ts";
import { FakeOpfs } from "./testing/fake-opfs.ts";

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

/** Folders count as the browser's own. */
function asInBrowsers(): void {
  const Handle = function () {};
  Object.defineProperty(Handle, Symbol.hasInstance, { value: () => true });
  vi.stubGlobal("FileSystemDirectoryHandle", Handle);
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
}

test("L4 what it commits while the next one opens is there: that waits where nobody closed the database", async () => {
  asInBrowsers();
  const fake = new FakeOpfs();
  const ended = await open(fake);
  saveNew(ended, "a");
  fake.endWorker();
  const opening = open(fake);
  await vi.advanceTimersByTimeAsync(60);
  expect(saveNew(ended, "b")).toBe(true);
  await vi.advanceTimersByTimeAsync(60);
  const next = await opening;
  expect(next.load("b")).not.toBeNull();
  next.close();
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

test("L4 the next one is told when the other has committed after all, and does not write over it", async () => {
  const fake = new FakeOpfs();
  const ended = await open(fake);
  saveNew(ended, "a");
  fake.endWorker();
  const next = await open(fake);
  expect(saveNew(ended, "late")).toBe(true);
  expect(() => next.load("a")).toThrow("another worker");
  expect(saveNew(next, "c")).toBe(false);
  next.close();
  const last = await open(fake.afterKill());
  for (const id of ["a", "late"]) expect(last.load(id)).not.toBeNull();
  last.close();
});

test("L4 nor when it committed after the next one looked, and before that one writes", async () => {
  const fake = new FakeOpfs();
  const ended = await open(fake);
  saveNew(ended, "a");
  fake.endWorker();
  const next = await openOpfs("a.db", { directory: fake.directory, busyTimeoutMs: 0 });
  const { position, ...image } = next.load();
  const pages = pagesOf(image);
  next.lock();
  next.pull(position, pages);
  expect(saveNew(ended, "late")).toBe(true);
  const changed = { ...image, pages: new Map([[2, pages.page(2)]]) };
  expect(() => next.append(changed, position)).toThrow("another worker");
  next.close(pages);
  const last = await open(fake.afterKill());
  for (const id of ["a", "late"]) expect(last.load(id)).not.toBeNull();
  last.close();
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
