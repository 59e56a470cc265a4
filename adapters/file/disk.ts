// The file system, as the file adapter uses it: a random-access file, and a few calls on paths and directories.
import * as fs from "node:fs";
import * as path from "node:path";
import { StorageRefused, systemCode } from "../../src/errors.ts";
import type { RandomAccessFile } from "../wal/random-access-file.ts";
import { placeOf } from "./in-place.ts";

/** A file of the system's. What it throws are the system's own errors. */
interface DiskFile extends RandomAccessFile {
  /** Whether it is this file that `path` means: a question to ask again and again, null when it is not even now. */
  placeAt(file: string): (() => boolean) | null;
}

/** Opens a file that exists. */
export function openFile(file: string): DiskFile {
  return wrap(fs.openSync(file, "r+"));
}

/** Creates a file with exactly this mode, whatever the umask; fails when there is one. */
export function createFile(file: string, mode: number): DiskFile {
  const fd = fs.openSync(file, "wx+", mode);
  try {
    if ((fs.fstatSync(fd).mode & 0o777) !== mode) fs.chmodSync(file, mode);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  return wrap(fd);
}

/** Writes all of it. The system may take a part only: of a full disk the next call tells. */
export function writeAll(fd: number, bytes: Uint8Array, at: number): void {
  let done = 0;
  while (done < bytes.length) done += fs.writeSync(fd, bytes, done, bytes.length - done, at + done);
}

function wrap(fd: number): DiskFile {
  return {
    read(target, at) {
      let done = 0;
      while (done < target.length) {
        const count = fs.readSync(fd, target, done, target.length - done, at + done);
        if (count === 0) break;
        done += count;
      }
      return done;
    },
    write: (bytes, at) => writeAll(fd, bytes, at),
    sync: () => fs.fdatasyncSync(fd),
    syncAwaiting: () =>
      new Promise((resolve, reject) => {
        fs.fdatasync(fd, (error) => (error === null || error === undefined ? resolve() : reject(error)));
      }),
    size: () => fs.fstatSync(fd).size,
    truncate: (bytes) => fs.ftruncateSync(fd, bytes),
    placeAt: (file) => placeOf(file, fd),
    close: () => fs.closeSync(fd),
  };
}

/** Makes a directory's entries durable, where the system can. */
export function syncDirectoryOf(file: string): void {
  let fd: number;
  try {
    fd = fs.openSync(path.dirname(file), "r");
  } catch (error) {
    if (isUnsupported(error)) return;
    throw error;
  }
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  } finally {
    fs.closeSync(fd);
  }
}

/** Windows and some file systems have no way to sync a directory; they say so with one of these. */
function isUnsupported(error: unknown): boolean {
  return ["EISDIR", "EPERM", "EACCES", "EINVAL", "ENOTSUP", "EBADF"].includes(systemCode(error) ?? "");
}

/** The file a path means after all links, so that the log lies beside the database itself, as SQLite puts it. */
export function resolvePlace(place: string): string {
  let resolved = inRealFolder(path.isAbsolute(place) ? place : `${process.cwd()}/${place}`);
  for (let links = 0; ; links++) {
    const found = fs.lstatSync(resolved, { throwIfNoEntry: false });
    if (found === undefined || !found.isSymbolicLink()) return resolved;
    if (links > 40) throw new StorageRefused("storage-denied", place, "too many symbolic links");
    const target = fs.readlinkSync(resolved);
    resolved = inRealFolder(path.isAbsolute(target) ? target : `${path.dirname(resolved)}/${target}`);
  }
}

/** With the folder as the system knows it: `..` behind a link is not what it looks like. */
function inRealFolder(file: string): string {
  try {
    return path.join(fs.realpathSync.native(path.dirname(file)), path.basename(file));
  } catch (error) {
    // Deno may forbid to look above the folder.
    if (systemCode(error) === "EACCES" || systemCode(error) === "EPERM") return path.resolve(file);
    throw error;
  }
}

/** What a path is: null when nothing is there. */
export function inspect(
  file: string,
): { readonly isFile: boolean; readonly mode: number; readonly size: number } | null {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found === undefined ? null : { isFile: found.isFile(), mode: found.mode & 0o777, size: found.size };
}

/** Refuses what is no file where files of ours belong, beside `file`; gives that back. */
export function refuseStrangers(file: string, place: string): string {
  const refuse = (beside: string): never => {
    const problem = `something that is no file lies where one of its own belongs (${beside}); move it away`;
    throw new StorageRefused("storage-unreadable", place, problem);
  };
  for (const beside of [`${file}-wal`, `${file}-journal`]) {
    if (fs.statSync(beside, { throwIfNoEntry: false })?.isFile() === false) refuse(beside);
  }
  // A lock that is a link names somebody else's, or nobody's.
  const lock = `${file}-lock`;
  if (fs.lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) refuse(lock);
  return file;
}

/** Gives a finished file its name; fails when the name is taken. */
export function publish(temporary: string, file: string): void {
  fs.linkSync(temporary, file);
  fs.unlinkSync(temporary);
  syncDirectoryOf(file);
}

export function remove(file: string): void {
  fs.rmSync(file, { force: true });
}
