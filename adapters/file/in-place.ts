// Whether a path still means the file that is open. Asking with stat would do, but not for a file that is written all
// the time: since Linux 6.13 a stat makes the next write take a time stamp of its own, which goes through the file
// system's journal and slows the sync after it by a third. The kernel's own note of where an open file lies costs nothing.
import * as fs from "node:fs";

/** Device and inode of an open file. */
export function identityOf(fd: number): string {
  return format(fs.fstatSync(fd, { bigint: true }));
}

/** Which file a path means now, or null when there is none. */
export function identityAt(file: string): string | null {
  const found = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : format(found);
}

const format = ({ dev, ino }: fs.BigIntStats): string => `${dev}:${ino}`;

/** A question to ask again and again: does `path` mean the file open as `fd`? Null when it does not even now. */
export function placeOf(path: string, fd: number): (() => boolean) | null {
  const identity = identityOf(fd);
  if (identityAt(path) !== identity) return null;
  const note = `/proc/self/fd/${fd}`;
  const noted = readLink(note);
  // Elsewhere than on Linux, or without permission, or where descriptors are not the system's: stat it is.
  if (noted === null || identityAt(noted) !== identity) return () => identityAt(path) === identity;
  return () => readLink(note) === noted;
}

function readLink(path: string): string | null {
  try {
    return fs.readlinkSync(path);
  } catch {
    return null;
  }
}
