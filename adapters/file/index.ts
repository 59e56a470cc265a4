// The file adapter for Node, Deno and Bun: a SQLite file with its log, in two flavours over the same programs.
import type { AsyncAdapter, Position, Supports, SyncAdapter } from "../../src/port.ts";
import { runAwaiting, runBlocking } from "../wal/program.ts";
import type { LogPosition } from "../wal/wal.ts";
import { checkFileOptions, type FileOptions } from "./options.ts";
import { FileStorage } from "./storage.ts";

export type { FileOptions } from "./options.ts";

const SUPPORTS: Supports = { durable: true, shared: true, strict: true };

/** A file that is flushed before a call returns. Nothing is touched before the store loads it. */
export function fileAdapter(place: string, options: FileOptions = {}): SyncAdapter {
  checkFileOptions(place, options);
  const storage = new FileStorage(place, options, true);
  return {
    synchronous: true,
    name: "file",
    place,
    supports: SUPPORTS,
    load: () => runBlocking(storage.load()),
    pull: (since, pages) => runBlocking(storage.pull(ours(since), pages)),
    lock: () => runBlocking(storage.lock()),
    append: (delta, after) => runBlocking(storage.append(delta, ours(after))),
    checkpoint: (pages) => runBlocking(storage.checkpoint(pages)),
    close: (pages) => runBlocking(storage.close(pages)),
    verify: (pages) => storage.verify(pages),
  };
}

/** A file that is flushed off the thread; waiting for another writer does not block either. */
export function asyncFileAdapter(place: string, options: FileOptions = {}): AsyncAdapter {
  checkFileOptions(place, options);
  const storage = new FileStorage(place, options, false);
  return {
    synchronous: false,
    name: "file",
    place,
    supports: SUPPORTS,
    load: () => runAwaiting(storage.load()),
    pull: (since, pages) => runAwaiting(storage.pull(ours(since), pages)),
    lock: () => runAwaiting(storage.lock()),
    append: (delta, after) => runAwaiting(storage.append(delta, ours(after))),
    checkpoint: (pages) => runAwaiting(storage.checkpoint(pages)),
    close: (pages) => runAwaiting(storage.close(pages)),
    verify: (pages) => storage.verify(pages),
  };
}

/** The store only hands back what it got here. */
const ours = (position: Position): LogPosition => position as LogPosition;
