// A log that nobody synced after each transaction, and that a sync failed on: made durable by writing it again (L5).
import { expect, test } from "vitest";
import { SimulatedDisk } from "../simulation/index.ts";
import { Log, scanLog } from "./log.ts";
import { runBlocking } from "./program.ts";
import type { RandomAccessFile } from "./random-access-file.ts";
import { startLog, writeHeader } from "./wal.ts";

const PAGE_BYTES = 512;

function fileOn(disk: SimulatedDisk): RandomAccessFile {
  const file = disk.find("log") ?? disk.create("log");
  return {
    read: (target, at) => disk.read(file, target, at),
    write: (bytes, at) => void disk.write(file, bytes, at),
    sync: () => disk.sync(file),
    syncAwaiting: () => disk.syncAwaiting(file),
    size: () => disk.size(file),
    truncate: (bytes) => disk.truncate(file, bytes),
    close: () => {},
  };
}

/** How many transactions a log holds after a power cut. */
const framesAfterPowerCut = (disk: SimulatedDisk): number => scanLog(fileOn(disk.crash("lost")))?.position.frames ?? 0;

/** A log of one page, written and not synced. */
function newLog(disk: SimulatedDisk): Log {
  const file = fileOn(disk);
  const start = startLog(PAGE_BYTES, 1, 2, 3);
  file.write(writeHeader(start), 0);
  const log = new Log(file, start, () => true, false);
  const pages = new Map([[1, new Uint8Array(PAGE_BYTES)]]);
  log.advance(log.write({ pageSize: PAGE_BYTES, pageCount: 1, pages }));
  disk.syncNames();
  return log;
}

test("L5 what a failed sync may have dropped is written again before the log counts as durable", () => {
  const disk = new SimulatedDisk();
  const log = newLog(disk);
  disk.before = ({ kind }) => (kind === "sync" ? { error: "EIO" } : undefined);
  expect(() => runBlocking(log.settle())).toThrow(expect.objectContaining({ code: "EIO" }));
  disk.before = () => {};
  runBlocking(log.sync());
  expect(framesAfterPowerCut(disk), "a sync alone proves nothing").toBe(0);
  runBlocking(log.settle());
  expect(framesAfterPowerCut(disk)).toBe(1);
});

test("L5 of a log that was found nobody knows whether a sync of it failed", () => {
  const disk = new SimulatedDisk();
  newLog(disk);
  disk.before = ({ kind }) => (kind === "sync" ? { error: "EIO" } : undefined);
  expect(() => fileOn(disk).sync()).toThrow(expect.objectContaining({ code: "EIO" }));
  disk.before = () => {};
  const file = fileOn(disk);
  const found = new Log(file, scanLog(file)!.position, () => true, true);
  runBlocking(found.settle());
  expect(framesAfterPowerCut(disk)).toBe(1);
});

test("L5 nor of its header, when it holds no more", () => {
  const disk = new SimulatedDisk();
  const file = fileOn(disk);
  file.write(writeHeader(startLog(PAGE_BYTES, 1, 2, 3)), 0);
  disk.syncNames();
  disk.before = ({ kind }) => (kind === "sync" ? { error: "EIO" } : undefined);
  expect(() => file.sync()).toThrow(expect.objectContaining({ code: "EIO" }));
  disk.before = () => {};
  runBlocking(new Log(file, scanLog(file)!.position, () => true, true).settle());
  expect(scanLog(fileOn(disk.crash("lost")))?.position.salt1).toBe(2);
});

test("L5 nor of what others appended since", () => {
  const disk = new SimulatedDisk();
  const log = newLog(disk);
  runBlocking(log.settle());
  const theirs = new Log(fileOn(disk), log.position, () => true, true);
  theirs.write({ pageSize: PAGE_BYTES, pageCount: 1, pages: new Map([[1, new Uint8Array(PAGE_BYTES)]]) });
  disk.before = ({ kind }) => (kind === "sync" ? { error: "EIO" } : undefined);
  expect(() => runBlocking(theirs.sync())).toThrow(expect.objectContaining({ code: "EIO" }));
  disk.before = () => {};
  log.follow(log.readOn());
  runBlocking(log.settle());
  expect(framesAfterPowerCut(disk)).toBe(2);
});

test("L6 a log without a doubt is only synced", () => {
  const disk = new SimulatedDisk();
  const log = newLog(disk);
  const { length } = disk.entries;
  runBlocking(log.settle());
  expect(disk.entries.slice(length).map(({ kind }) => kind)).toEqual(["sync"]);
  expect(framesAfterPowerCut(disk)).toBe(1);
});
