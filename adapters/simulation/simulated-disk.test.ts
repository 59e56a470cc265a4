// The simulated disk keeps what was synced, and of the rest leaves what a real one might (L2).
import { expect, test } from "vitest";
import { type CrashMode, type DiskCall, SimulatedDisk } from "./index.ts";

const SECTOR = 512;
const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

/** What a file holds, or null when there is none. */
function contentOf(disk: SimulatedDisk, name: string): Uint8Array | null {
  const file = disk.find(name);
  return file === null ? null : (disk.image().files.get(file) ?? null);
}

/** A disk with one file of two sectors, synced. */
function diskWithFile(): { disk: SimulatedDisk; file: number } {
  const disk = new SimulatedDisk({ seed: 1 });
  const file = disk.create("a");
  disk.write(file, bytes(2 * SECTOR, 1), 0);
  disk.sync(file);
  disk.syncNames();
  return { disk, file };
}

test("L2 a kill takes nothing, a power cut what was not synced", () => {
  const { disk, file } = diskWithFile();
  disk.write(file, bytes(SECTOR, 2), SECTOR);
  const found = (mode: CrashMode): number | undefined => contentOf(disk.crash(mode), "a")?.[SECTOR];
  expect([found("kill"), found("lost")]).toEqual([2, 1]);
  disk.sync(file);
  expect(found("lost")).toBe(2);
});

test("L2 a file whose name was not made durable is gone, and one that was removed is back", () => {
  const { disk } = diskWithFile();
  const other = disk.create("b");
  disk.write(other, bytes(1, 1), 0);
  disk.sync(other);
  disk.remove("a");
  expect(disk.names).toEqual(["b"]);
  expect(disk.crash("lost").names).toEqual(["a"]);
  disk.syncNames();
  expect(disk.crash("lost").names).toEqual(["b"]);
});

test("L2 a rename is there or not, never half", () => {
  const { disk } = diskWithFile();
  const next = disk.create("next");
  disk.write(next, bytes(1, 7), 0);
  disk.sync(next);
  disk.syncNames();
  disk.rename("next", "a");
  for (let i = 0; i < 20; i++) {
    // Each entry more is another throw of the dice.
    disk.sync(next);
    const left = disk.crash("torn");
    expect([["a"], ["a", "next"]]).toContainEqual(left.names);
    expect(contentOf(left, "a")?.length).toBe(left.names.length === 1 ? 1 : 2 * SECTOR);
  }
});

test("L2 a torn write leaves whole sectors, some new and some old, and other files alone", () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 200; seed++) {
    const disk = new SimulatedDisk({ seed });
    const [file, other] = [disk.create("a"), disk.create("b")];
    for (const one of [file, other]) {
      disk.write(one, bytes(3 * SECTOR, 1), 0);
      disk.sync(one);
    }
    disk.syncNames();
    disk.write(file, bytes(2 * SECTOR, 2), SECTOR);
    const left = contentOf(disk.crash("torn"), "a")!;
    const sectors = [0, 1, 2].map((sector) => left.subarray(sector * SECTOR, (sector + 1) * SECTOR));
    for (const sector of sectors) expect(new Set(sector).size).toBe(1);
    seen.add(sectors.map(([value]) => value).join(""));
    expect(new Set(contentOf(disk.crash("torn"), "b"))).toEqual(new Set([1]));
  }
  // Nothing, all, the beginning, and the end before the beginning: reordered.
  expect([...seen].sort()).toEqual(["111", "112", "121", "122"]);
});

test("L2 what a sync failed on no later sync makes durable; written again it is", () => {
  const { disk, file } = diskWithFile();
  disk.write(file, bytes(1, 2), 0);
  disk.before = ({ kind }) => (kind === "sync" ? { error: "EIO" } : undefined);
  expect(() => disk.sync(file)).toThrow(expect.objectContaining({ code: "EIO" }));
  disk.before = () => {};
  disk.sync(file);
  expect(contentOf(disk, "a")?.[0]).toBe(2);
  expect(contentOf(disk.crash("lost"), "a")?.[0]).toBe(1);
  disk.write(file, bytes(1, 3), 0);
  disk.sync(file);
  expect(contentOf(disk.crash("lost"), "a")?.[0]).toBe(3);
});

test("L2 what is written while a sync waits is not part of it", async () => {
  const { disk, file } = diskWithFile();
  disk.write(file, bytes(1, 2), 0);
  let open = (): void => {};
  const wait = new Promise<void>((resolve) => {
    open = resolve;
  });
  disk.before = ({ kind }) => (kind === "sync" ? { wait } : undefined);
  const syncing = disk.syncAwaiting(file);
  disk.write(file, bytes(1, 3), 1);
  open();
  await syncing;
  expect([...contentOf(disk.crash("lost"), "a")!.subarray(0, 2)]).toEqual([2, 1]);
});

test("L7 calls fail, writes are cut short, and a full disk says so", () => {
  const { disk, file } = diskWithFile();
  disk.before = ({ kind }) => (kind === "write" ? { short: 10 } : undefined);
  expect(disk.write(file, bytes(100, 4), 0)).toBe(10);
  disk.before = ({ kind }) => (kind === "write" ? { short: 5, error: "ENOSPC" } : undefined);
  expect(() => disk.write(file, bytes(100, 5), 0)).toThrow(expect.objectContaining({ code: "ENOSPC" }));
  expect([...contentOf(disk, "a")!.subarray(4, 11)]).toEqual([5, 4, 4, 4, 4, 4, 1]);
  disk.before = () => {};
  disk.capacityBytes = 2 * SECTOR + 8;
  expect(disk.write(file, bytes(20, 6), 2 * SECTOR)).toBe(8);
  expect(() => disk.write(file, bytes(12, 6), 2 * SECTOR + 8)).toThrow(expect.objectContaining({ code: "ENOSPC" }));
  expect(disk.write(file, bytes(20, 6), 0)).toBe(20);
});

test("every call that may change something is asked about and counted, reads are asked about", () => {
  const calls: DiskCall[] = [];
  const disk = new SimulatedDisk({ before: (call) => void calls.push(call) });
  const file = disk.create("a");
  disk.write(file, bytes(3, 1), 0);
  disk.read(file, bytes(2, 0), 0);
  disk.truncate(file, 1);
  disk.sync(file);
  disk.link("a", "b");
  disk.rename("a", "c");
  disk.remove("c");
  disk.syncNames();
  expect(calls.map(({ number, kind, bytes: length }) => `${number} ${kind} ${length}`)).toEqual([
    ...["0 names 0", "1 write 3", "2 read 2", "2 truncate 0", "3 sync 0"],
    ...["4 names 0", "5 names 0", "6 names 0", "7 sync names 0"],
  ]);
  expect(disk.calls).toBe(8);
});

test("the same seed leaves the same", () => {
  const leave = (seed: number): string => {
    const disk = new SimulatedDisk({ seed });
    const file = disk.create("a");
    for (let i = 0; i < 10; i++) disk.write(file, bytes(700, i), i * 600);
    disk.syncNames();
    return contentOf(disk.crash("torn"), "a")!.join();
  };
  expect(leave(5)).toBe(leave(5));
  expect(new Set([1, 2, 3, 4, 5].map(leave)).size).toBeGreaterThan(1);
});
