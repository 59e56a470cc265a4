// L4 against the last call of a worker that was ended, held up before each of its calls to the file system in turn, while
// the next one opens the files and commits. Nothing that either of them acknowledged may be lost or mixed up.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newExecution } from "../../src/records/codec.ts";
import { PerdureError, SqliteStore } from "../browser.ts";
import { openOpfs } from "./index.ts";
import { asInBrowsers } from "./testing/as-in-browsers.ts";
import { type Call, domError, FakeOpfs } from "./testing/fake-opfs.ts";

interface LastCall {
  /** Frames after which the log is folded. */
  readonly frames: number;
  /** What is committed before. */
  readonly before: readonly string[];
  readonly run: (store: SqliteStore) => boolean;
  /** The first call of this kind fails in it. */
  readonly fails?: Call;
}

const commit = (store: SqliteStore): boolean => saveNew(store, "late");

const LAST_CALLS: Readonly<Record<string, LastCall>> = {
  "a commit": { frames: 4000, before: ["a", "b"], run: commit },
  "a commit of many pages": { frames: 4000, before: ["a"], run: (store) => saveNew(store, "late", 600_000) },
  "a commit that does not reach the disk": { frames: 4000, before: ["a", "b"], run: commit, fails: "flush" },
  "the first commit": { frames: 4000, before: [], run: commit },
  "a checkpoint": { frames: 12, before: ["a", "b", "c"], run: commit },
  "a close": {
    frames: 4000,
    before: ["a", "b", "c"],
    run(store) {
      store.close();
      return false;
    },
  },
};

async function open(fake: FakeOpfs, seed: number, checkpointFrames: number): Promise<SqliteStore> {
  chanceOf(seed);
  return SqliteStore.create(await openOpfs("a.db", { directory: fake.directory, checkpointFrames }));
}

/** Salts, which are the same again for the same seed. */
function chanceOf(seed: number): void {
  let last = seed;
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    const words = array as Uint32Array;
    for (let i = 0; i < words.length; i++) words[i] = last = (Math.imul(last, 1664525) + 1013904223) >>> 0;
    return array;
  });
}

/** One more Execution. Whether it was acknowledged. */
function saveNew(store: SqliteStore, id: string, bytes = 3000): boolean {
  try {
    store.save(newExecution({ id, definition_id: "order", context: { text: "x".repeat(bytes) } }));
    return true;
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    return false;
  }
}

/** All of them acknowledged. */
function saveAll(store: SqliteStore, ids: readonly string[], where: string): string[] {
  const saved = ids.filter((id) => saveNew(store, id));
  expect(saved, where).toEqual(ids);
  return saved;
}

interface Ended {
  readonly fake: FakeOpfs;
  /** Every call of the last call. */
  readonly calls: readonly string[];
  readonly acknowledged: readonly string[];
}

/** A worker up to the end of its last call, the same each time; `meanwhile` comes before that call's call `at`. */
async function endedWorker(last: LastCall, at: number, meanwhile: (fake: FakeOpfs) => void): Promise<Ended> {
  const fake = new FakeOpfs();
  const store = await open(fake, 1, last.frames);
  for (const id of last.before) expect(saveNew(store, id)).toBe(true);
  fake.endWorker();
  const calls: string[] = [];
  fake.before = (call, name) => {
    if (calls.length === at) meanwhile(fake);
    calls.push(`${call} ${name}`);
    if (call === last.fails && calls.filter((one) => one.startsWith(call)).length === 1) throw domError("UnknownError");
  };
  const isAcknowledged = last.run(store);
  fake.before = () => {};
  return { fake, calls, acknowledged: isAcknowledged ? [...last.before, "late"] : last.before };
}

/** Whether it has just looked whether the files are still its own, and writes next: then it is not held up for long. */
function isRightAfterLook(calls: readonly string[], at: number): boolean {
  const isWrite = (call: string | undefined): boolean => /^(write|truncate)/u.test(call ?? "");
  let before = at - 1;
  while (isWrite(calls[before]) && calls[before] === calls[at] && calls[at]!.startsWith("truncate")) before--;
  return isWrite(calls[at]) && calls[before] === "getSize a.db-wal";
}

/** Everything is there and sound: in the store, after a kill, and after a close. */
async function expectAll(store: SqliteStore, fake: FakeOpfs, ids: readonly string[], where: string): Promise<void> {
  expectIn(store, ids, where);
  const killed = fake.afterKill();
  store.close();
  for (const left of [killed, fake]) await expectLeft(left, ids, where);
}

async function expectLeft(fake: FakeOpfs, ids: readonly string[], where: string): Promise<void> {
  const store = await opened(open(fake, 5, 4000));
  expectIn(store, ids, `${where}, opened again`);
  store.close();
}

function expectIn(store: SqliteStore, ids: readonly string[], where: string): void {
  for (const id of ids) expect(store.load(id)?.id, `${id}, ${where}`).toBe(id);
  expect(store.verify(), where).toEqual([]);
}

async function opened(opening: Promise<SqliteStore>): Promise<SqliteStore> {
  await vi.advanceTimersByTimeAsync(1000);
  return opening;
}

/** What the next one finds when the last call has come as far as its call `at`. */
async function filesAt(last: LastCall, at: number): Promise<FakeOpfs> {
  const found = new FakeOpfs();
  await endedWorker(last, at, (fake) => found.lay(fake.files()));
  return found;
}

const callsOf = async (last: LastCall): Promise<readonly string[]> => (await endedWorker(last, -1, () => {})).calls;

beforeEach(asInBrowsers);
afterEach(() => void vi.restoreAllMocks());

test.each(Object.entries(LAST_CALLS))("L4 %s, held up until the next one has claimed the files", async (name, last) => {
  for (const [at, call] of (await callsOf(last)).entries()) {
    const where = `${name}, ${at} ${call}`;
    const fake = await filesAt(last, at);
    const opening = open(fake, 2, 12);
    await vi.advanceTimersByTimeAsync(50);
    const ended = await endedWorker(last, at, (its) => its.lay(fake.files()));
    fake.lay(ended.fake.files());
    const next = await opened(opening);
    const acknowledged = saveAll(next, ["d", "e", "f", "g"], where);
    await expectAll(next, fake, [...ended.acknowledged, ...acknowledged], where);
  }
});

describe.each([4000, 12])("the next one commits and folds after %d frames", (frames) => {
  test.each(Object.entries(LAST_CALLS))("L4 %s, held up for however long", async (name, last) => {
    const calls = await callsOf(last);
    for (const [at, call] of calls.entries()) {
      if (isRightAfterLook(calls, at)) continue;
      const where = `${name}, ${at} ${call}`;
      const fake = await filesAt(last, at);
      const next = await opened(open(fake, 2, frames));
      const acknowledged = saveAll(next, ["d", "e", "f", "g"], where);
      const ended = await endedWorker(last, at, (its) => its.lay(fake.files()));
      fake.lay(ended.fake.files());
      acknowledged.push(...saveAll(next, ["h", "i"], where));
      await expectAll(next, fake, [...ended.acknowledged, ...acknowledged], where);
    }
  });
});

test.each(Object.entries(LAST_CALLS))("L4 %s, held up until the next one has closed the files", async (name, last) => {
  const calls = await callsOf(last);
  for (const [at, call] of calls.entries()) {
    if (isRightAfterLook(calls, at)) continue;
    const where = `${name}, ${at} ${call}`;
    const fake = await filesAt(last, at);
    // The log stays, emptied: one that is gone takes no harm.
    fake.before = (one) => {
      if (one === "removeEntry") throw domError("UnknownError");
    };
    const next = await opened(open(fake, 2, 4000));
    const acknowledged = saveAll(next, ["d", "e"], where);
    next.close();
    await vi.advanceTimersByTimeAsync(0);
    const ended = await endedWorker(last, at, (its) => its.lay(fake.files()));
    fake.lay(ended.fake.files());
    await expectLeft(fake, [...ended.acknowledged, ...acknowledged], where);
  }
});
