// A database file with its log as two pieces of bytes, however they got here: read as a store would read them. Bytes in,
// pages out; no files.
import { ImageCorrupt } from "../../src/errors.ts";
import type { LoadedImage } from "../../src/port.ts";
import { loadImage, readHeaderOf } from "./base.ts";
import { isSomethingElse, scanLog } from "./log.ts";
import type { ReadableFile } from "./random-access-file.ts";
import type { Scanned } from "./wal.ts";

/** A SQLite database in WAL or rollback mode, and what lies beside it as its `-wal`. */
export interface DatabaseFile {
  readonly database: Uint8Array;
  readonly wal: Uint8Array | null;
}

/**
 * The database as it was after the last transaction that its log holds whole, its header as the engine wants it.
 * `place` is for messages. The image shares no memory with what was given.
 *
 * @throws StorageRefused (`not-a-database`, `newer-format`), ImageCorrupt
 */
export function readDatabaseFile({ database, wal }: DatabaseFile, place: string): LoadedImage {
  refuseEmpty(place, database.length);
  const file = readable(database);
  const { pageSize } = readHeaderOf(file, place);
  const log = wal === null ? null : readable(wal);
  const scanned = log === null ? null : scanLog(log);
  refuseOtherLog(place, pageSize, scanned, scanned === null && log !== null && isSomethingElse(log));
  return loadImage(place, file, pageSize, committed(scanned));
}

/** A log that holds no whole transaction adds nothing. */
export function committed(scanned: Scanned | null): Scanned | null {
  return scanned === null || scanned.pageCount === null ? null : scanned;
}

/** An empty file was a database once, or somebody would not have named it. */
export function refuseEmpty(place: string, bytes: number): void {
  if (bytes > 0) return;
  const remedy = "restore it, or remove it when nothing was ever in it";
  throw new ImageCorrupt(place, "the file is empty", { remedy, where: { part: "base", offset: 0 } });
}

/** Refuses what lies beside a database as its log and cannot be that: what is in it may be all that is left (L7). */
export function refuseOtherLog(place: string, pageSize: number, scanned: Scanned | null, somethingElse: boolean): void {
  if (somethingElse) {
    const problem = "what lies beside it as its log (-wal) is no log; move it away to open without it";
    throw new ImageCorrupt(place, problem, { where: { part: "log", offset: 0 } });
  }
  const log = committed(scanned);
  if (log !== null && log.position.pageSize !== pageSize) {
    throw new ImageCorrupt(place, "its log has pages of another size", { where: { part: "log", offset: 8 } });
  }
}

/** Bytes as a file to read. */
export function readable(bytes: Uint8Array): ReadableFile {
  return {
    read(target, at) {
      const part = bytes.subarray(at, at + target.length);
      target.set(part);
      return part.length;
    },
    size: () => bytes.length,
  };
}
