// An exclusive lock that is one hard link to an owner file: made at once, with its content, or not at all. What a dead
// holder left is removed by whoever holds the lock named after it, which is taken in the same way; so a process that dies
// in the middle of taking over is followed like any other.
import * as fs from "node:fs";
import { systemCode } from "../../src/errors.ts";
import { isDead, type Owner } from "./owner.ts";
import { type OwnerFile, readOwnerFile } from "./owner-file.ts";

/** How the names of such locks end. */
export const HEIR = ".heir";

/** The lock under which what `token` left at `lockFile` may be removed or replaced. */
export function heirOf(lockFile: string, token: string): string {
  return `${lockFile}.${token}${HEIR}`;
}

/** Takes a lock: null when it is ours now, else who holds it. */
export function takeLock(lockFile: string, own: OwnerFile): Owner | null {
  for (;;) {
    if (linkTo(own, lockFile)) return null;
    const found = readOwnerFile(lockFile);
    if (found === null) continue;
    // Ours already: giving it back must have failed.
    if (found.owner.token === own.token) return null;
    if (!isDead(found.owner, lockFile)) return found.owner;
    const heir = heirOf(lockFile, found.owner.token);
    const rival = takeLock(heir, own);
    if (rival !== null) return rival;
    // Looking again makes removing safe: the dead cannot come back, and nobody else may touch what they left.
    if (readOwnerFile(lockFile)?.owner.token === found.owner.token) fs.rmSync(lockFile, { force: true });
    dropLock(heir);
  }
}

export function dropLock(lockFile: string): void {
  fs.rmSync(lockFile, { force: true });
}

/** Makes a lock file ours if there is none. */
export function linkTo(own: OwnerFile, lockFile: string): boolean {
  try {
    fs.linkSync(own.path, lockFile);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Makes a lock file ours whoever it names. Needs the lock of its heir. */
export function replaceLock(own: OwnerFile, lockFile: string): void {
  const next = `${own.path}.next`;
  fs.rmSync(next, { force: true });
  fs.linkSync(own.path, next);
  fs.renameSync(next, lockFile);
}
