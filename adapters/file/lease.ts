// The write lease between processes: an exclusive lock file that names its holder. Each store writes an owner file once;
// taking the lease is one hard link to it (atomic, with its content), giving it back one unlink. A dead holder's lock
// is taken over at once. A living one is waited for, never robbed: the lease of a process that merely sleeps is safe.
import * as fs from "node:fs";
import * as path from "node:path";
import { StoreBusy, StorageRefused, systemCode } from "../../src/errors.ts";
import { identityAt, type Program } from "./disk.ts";
import { keepLocked } from "./flock.ts";
import { describe, isDead, type Owner, parseOwner, thisProcess } from "./owner.ts";

/** Tokens of the leases held on this thread: waiting for one of them while blocking would be forever. */
const heldHere = new Set<string>();

const FIRST_WAIT_MS = 0.2;
const LONGEST_WAIT_MS = 5;

export class Lease {
  readonly #place: string;
  readonly #lockFile: string;
  readonly #ownerFile: string;
  readonly #owner: Owner;
  /** Device and inode of the owner file, and so of the lock while it is ours. */
  #identity: string;
  readonly #busyTimeoutMs: number;
  readonly #blocking: boolean;
  #unlock: () => void = () => {};
  #held = false;
  /** Whether the lease held now was taken from a dead process, which may have left a write behind that is not durable. */
  #inherited = false;

  constructor(place: string, busyTimeoutMs: number, blocking: boolean) {
    this.#place = place;
    this.#lockFile = `${place}-lock`;
    this.#owner = thisProcess();
    this.#ownerFile = `${this.#lockFile}.${this.#owner.token}`;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#blocking = blocking;
    this.#identity = this.#writeOwnerFile();
  }

  get held(): boolean {
    return this.#held;
  }

  get inherited(): boolean {
    return this.#inherited;
  }

  /** Takes the lease. Throws `StoreBusy`. */
  *acquire(): Program<void> {
    this.#inherited = false;
    const deadline = performance.now() + this.#busyTimeoutMs;
    let wait = FIRST_WAIT_MS;
    for (;;) {
      const holder = this.#take(this.#lockFile);
      if (holder === null) break;
      const left = deadline - performance.now();
      const hopeless = this.#blocking && heldHere.has(holder.token);
      if (left <= 0 || hopeless) {
        const advice = hopeless ? "; it is another store of this thread, and a synchronous one cannot wait for it" : "";
        throw new StoreBusy(this.#place, this.#busyTimeoutMs, describe(holder), advice);
      }
      // Jitter, or waiters would go on colliding.
      yield { kind: "sleep", ms: Math.min(left, wait * (0.5 + Math.random())) };
      wait = Math.min(wait * 1.5, LONGEST_WAIT_MS);
    }
    this.#held = true;
    heldHere.add(this.#owner.token);
  }

  /** Takes the lease if it is free. */
  tryAcquire(): boolean {
    this.#inherited = false;
    if (this.#take(this.#lockFile) !== null) return false;
    this.#held = true;
    heldHere.add(this.#owner.token);
    return true;
  }

  /** Whether the lock file is still ours: somebody may have deleted it by hand. */
  isStillOurs(): boolean {
    return identityAt(this.#lockFile) === this.#identity;
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    heldHere.delete(this.#owner.token);
    this.#giveBack();
  }

  /** Whether another living store has the place open. Needs the lease. Clears away what dead ones left. */
  hasCompany(): boolean {
    const prefix = `${path.basename(this.#lockFile)}.`;
    let company = false;
    for (const name of fs.readdirSync(path.dirname(this.#lockFile))) {
      const file = path.join(path.dirname(this.#lockFile), name);
      if (!name.startsWith(prefix) || file === this.#ownerFile) continue;
      const owner = readOwner(file);
      if (owner !== null && !isDead(owner, file)) company = true;
      else fs.rmSync(file, { force: true });
    }
    return company;
  }

  close(): void {
    this.release();
    this.#giveBack();
    this.#unlock();
    try {
      fs.rmSync(this.#ownerFile, { force: true });
    } catch {
      // The next one to open finds its owner dead, and clears it away.
    }
  }

  #giveBack(): void {
    try {
      // What is not ours any more is not ours to delete.
      if (this.isStillOurs()) fs.unlinkSync(this.#lockFile);
    } catch {
      // A commit is durable all the same. The lock that stays is ours: to take again, or to give back at the end.
    }
  }

  /** One attempt at a lock file: null when it is ours now, else who holds it. */
  #take(lockFile: string): Owner | null {
    for (;;) {
      try {
        fs.linkSync(this.#ownerFile, lockFile);
        return null;
      } catch (error) {
        // Somebody cleared the directory while the store was open.
        if (systemCode(error) === "ENOENT") this.#identity = this.#writeOwnerFile();
        else if (systemCode(error) !== "EEXIST") throw this.#cannotLock(error);
      }
      const holder = readOwner(lockFile);
      if (holder === null) continue;
      if (holder.token === this.#owner.token) return null;
      if (!isDead(holder, lockFile)) return holder;
      // Only who holds the lock named after the dead one may remove what it left; and that lock is taken like any other,
      // so one who dies in here is followed the same way. Looking again under it makes removing safe: a dead process
      // cannot come back, and nobody else is allowed to touch its lock.
      const heir = `${lockFile}.${holder.token}.heir`;
      const rival = this.#take(heir);
      if (rival !== null) return rival;
      if (readOwner(lockFile)?.token === holder.token) {
        fs.rmSync(lockFile, { force: true });
        fs.rmSync(`${this.#lockFile}.${holder.token}`, { force: true });
        this.#inherited = true;
      }
      fs.rmSync(heir, { force: true });
    }
  }

  #writeOwnerFile(): string {
    try {
      fs.writeFileSync(this.#ownerFile, JSON.stringify(this.#owner), { flag: "wx", mode: 0o600 });
      this.#unlock = keepLocked(this.#ownerFile);
    } catch (error) {
      throw this.#cannotLock(error);
    }
    return identityAt(this.#ownerFile) ?? "";
  }

  #cannotLock(cause: unknown): StorageRefused {
    const code = systemCode(cause) ?? "unknown";
    if (code === "ENOENT" || code === "ENOTDIR") {
      return new StorageRefused("storage-missing", this.#place, "its directory is not there", { cause });
    }
    return new StorageRefused("storage-denied", this.#place, `the lock file beside it cannot be made (${code})`, {
      cause,
    });
  }
}

/** Who a lock or owner file names; null when it is gone. One without a readable name was cut short by a power failure. */
function readOwner(file: string): Owner | null {
  try {
    return parseOwner(fs.readFileSync(file, "utf8"));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
}
