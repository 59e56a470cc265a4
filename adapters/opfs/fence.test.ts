// The fence by itself: who owns a log's size (L4).
import { beforeEach, expect, test } from "vitest";
import { Fence } from "./fence.ts";
import type { SyncAccessHandle } from "./platform.ts";
import { domError, FakeOpfs } from "./testing/fake-opfs.ts";

const fake = new FakeOpfs();
let last = 0;

beforeEach(() => fake.put("a.db-wal", new Uint8Array(10_000).fill(7)));

/** The next owner, whom the browser gave the log of the one before. */
async function nextOwner(): Promise<{ readonly fence: Fence; readonly log: SyncAccessHandle }> {
  fake.endWorker();
  const file = await fake.directory.getFileHandle("a.db-wal");
  const fence = new Fence("a.db", () => last++);
  return { fence, log: fence.overLog(await file.createSyncAccessHandle!()) };
}

test("L4 a claim refuses who was there before, whatever both do to the log", async () => {
  let one = await nextOwner();
  one.fence.claim();
  const bytes = new Uint8Array(100);
  // Sizes that both come to: before and after the claim, the same again.
  const steps: readonly ((log: SyncAccessHandle) => void)[] = [
    (log) => void log.write(bytes, { at: 0 }),
    (log) => void log.write(bytes, { at: 20_000 }),
    (log) => log.truncate(4096),
    (log) => log.truncate(0),
  ];
  for (const before of steps) {
    before(one.log);
    const two = await nextOwner();
    two.fence.claim();
    for (const after of steps) {
      after(two.log);
      for (const late of steps) expect(() => late(one.log)).toThrow("another worker");
      two.fence.demand();
    }
    one = two;
  }
});

test("L7 nothing of what was cut off stays", async () => {
  const { log } = await nextOwner();
  log.truncate(0);
  expect(fake.files()["a.db-wal"]!.every((byte) => byte === 0)).toBe(true);
});

test("L5 no size is so small that it would cut through a log's header, should a power cut lose that it was emptied before", async () => {
  for (last = 0; last < 64; last++) {
    const { log } = await nextOwner();
    log.truncate(0);
    expect(fake.files()["a.db-wal"]!.length).toBeGreaterThan(56);
    fake.put("a.db-wal", new Uint8Array());
    const { fence } = await nextOwner();
    fence.claim();
    expect(fake.files()["a.db-wal"]!.length).toBeGreaterThan(56);
  }
});

test("L7 a claim that nothing came of is taken back", async () => {
  const { fence } = await nextOwner();
  fence.claim();
  const { length } = fake.files()["a.db-wal"]!;
  expect(length).toBeGreaterThan(10_000);
  // What a log ends with when it is written ends at even sizes.
  expect(length % 2).toBe(1);
  fence.withdraw();
  expect(fake.files()["a.db-wal"]).toEqual(new Uint8Array(10_000).fill(7));
});

test("a long write is done in pieces, a look before each", async () => {
  const { fence, log } = await nextOwner();
  fence.claim();
  expect(log.write(new Uint8Array(1_000_000), { at: 0 })).toBeLessThan(300_000);
});

test("L1 what a write that failed half way has added is no claim; a claim that came meanwhile is one", async () => {
  for (const claimed of [null, 14_001]) {
    fake.put("a.db-wal", new Uint8Array(10_000));
    const file = await fake.directory.getFileHandle("a.db-wal");
    const handle = await file.createSyncAccessHandle!();
    let isFull = true;
    const fence = new Fence("a.db", () => last++);
    const log = fence.overLog({
      ...handle,
      write(bytes, options) {
        if (!isFull) return handle.write(bytes, options);
        handle.write(bytes.subarray(0, 4096), options);
        if (claimed !== null) handle.truncate(claimed);
        throw domError("QuotaExceededError");
      },
    });
    const bytes = new Uint8Array(8192);
    expect(() => log.write(bytes, { at: 10_000 })).toThrow("QuotaExceededError");
    isFull = false;
    if (claimed === null) expect(log.write(bytes, { at: 10_000 })).toBe(8192);
    else expect(() => log.write(bytes, { at: 10_000 })).toThrow("another worker");
  }
});
