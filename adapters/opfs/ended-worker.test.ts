// L4 against a worker that was ended: the browser gives its files to the next one, and for a moment it goes on committing.
// Nobody hears what it acknowledges then; but what the next one acknowledges must be there, and the file must be whole.
import { expect, test, vi } from "vitest";
import { newExecution } from "../../src/records/codec.ts";
import { PerdureError, SqliteStore } from "../browser.ts";
import { FRAME_HEADER_BYTES } from "../wal/wal.ts";
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

test("what it commits when the next one has opened is seen", async () => {
  const fake = new FakeOpfs();
  const ended = await open(fake);
  saveNew(ended, "a");
  fake.endWorker();
  const next = await open(fake);
  expect(saveNew(ended, "b")).toBe(true);
  expect(next.verify()).toEqual([]);
  expect(next.load("b")).not.toBeNull();
  next.close();
});

test("the first commit of all is seen, too", async () => {
  const fake = new FakeOpfs();
  const ended = await open(fake);
  fake.endWorker();
  const next = await open(fake);
  expect(saveNew(ended, "a")).toBe(true);
  expect(saveNew(next, "b")).toBe(true);
  expect(next.verify()).toEqual([]);
  expect(next.listExecutions().items.length).toBe(2);
  next.close();
});

test("it does not commit over what the next one wrote, nor over a log that was started over", async () => {
  const fake = new FakeOpfs();
  const ended = await open(fake);
  saveNew(ended, "a");
  fake.endWorker();
  const next = await open(fake, { checkpointFrames: 1 });
  for (let i = 0; i < 5; i++) expect(saveNew(next, `next ${i}`)).toBe(true);
  saveNew(ended, "b");
  for (let i = 5; i < 10; i++) expect(saveNew(next, `next ${i}`)).toBe(true);
  expect(next.verify()).toEqual([]);
  for (let i = 0; i < 10; i++) expect(next.load(`next ${i}`)).not.toBeNull();
  next.close();
});

test.each([4000, 3])("whatever call it comes between, checkpoints after %d frames", async (checkpointFrames) => {
  for (let at = 0, isDone = false; !isDone; at++) {
    const fake = new FakeOpfs();
    const ended = await open(fake, { checkpointFrames });
    saveNew(ended, "a");
    fake.endWorker();
    let calls = 0;
    let late = false;
    fake.before = (call, _, bytes) => {
      // Nothing closes the gap between the last look and the mark.
      const isBlind = call === "write" && bytes === FRAME_HEADER_BYTES;
      if (isBlind || calls++ !== at) return;
      fake.before = () => {};
      late = saveNew(ended, "late");
    };
    const next = await open(fake, { checkpointFrames });
    const acknowledged = ["c", "d", "e"].filter((id) => saveNew(next, id));
    isDone = calls <= at;
    fake.before = () => {};
    expect(acknowledged).toEqual(["c", "d", "e"]);
    if (late) acknowledged.push("late");
    for (const id of ["a", ...acknowledged]) expect(next.load(id)).not.toBeNull();
    expect(next.verify()).toEqual([]);
    next.close();

    const last = await open(fake);
    for (const id of ["a", ...acknowledged]) expect(last.load(id)).not.toBeNull();
    expect(last.verify()).toEqual([]);
    last.close();
  }
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
