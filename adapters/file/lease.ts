// The write lease between processes (L4). The lock file names who has it; the lease stays with whoever wrote last, so
// that writing again costs two marks in a file and no work on the directory (which would slow the commit's own sync by a
// third). Another one moves it over: it makes the lock its own first and then waits until the former holder is seen not
// writing. The former holder marks itself as writing first and then looks whether the lock is still its own. So whichever
// comes second sees the other, and never do both write.
//
// A living writer is waited for, never robbed in the middle: the lease of a process that merely sleeps is safe. Of a dead
// one the lease is taken over at once.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  FlushFailed,
  PerdureError,
  type RefusalCode,
  StoreBusy,
  StorageRefused,
  systemCode,
} from "../../src/errors.ts";
import type { Program } from "./disk.ts";
import { identityAt, placeOf } from "./in-place.ts";
import { dropLock, HEIR, heirOf, linkTo, replaceLock, takeLock } from "./lock-file.ts";
import { describe, isDead, type Owner, thisProcess } from "./owner.ts";
import { OwnerFile, readOwnerFile, type Sighting } from "./owner-file.ts";

/** Tokens of the leases held on this thread: waiting for one of them while blocking would be forever. */
const heldHere = new Set<string>();

const FIRST_WAIT_MS = 0.2;
const LONGEST_WAIT_MS = 5;
const MOST_TRIES = 100;

export class Lease {
  readonly #place: string;
  readonly #lockFile: string;
  readonly #owner: Owner;
  readonly #busyTimeoutMs: number;
  readonly #blocking: boolean;
  readonly #mode: number;
  #file: OwnerFile;
  /** Whose last write must be over before the lock means anything. */
  #predecessor: string | null = null;
  /** The lock file, open, since we made it ours. */
  #lock: { readonly fd: number; readonly isInPlace: () => boolean } | null = null;
  #held = false;
  #inherited = false;

  /** `mode` is the database's: who may use it must be able to read whose turn it is. */
  constructor(place: string, busyTimeoutMs: number, blocking: boolean, mode = 0o600) {
    this.#mode = mode;
    this.#place = place;
    this.#lockFile = `${place}-lock`;
    this.#owner = thisProcess();
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#blocking = blocking;
    this.#file = this.#translating(() => this.#makeFile());
  }

  /** By which others know it. */
  get token(): string {
    return this.#owner.token;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Whether the lease came from a process that died writing, and may have left something that is not durable. */
  get inherited(): boolean {
    return this.#inherited;
  }

  /** Takes the lease. Throws `StoreBusy`. */
  *acquire(): Program<void> {
    const start = performance.now();
    let wait = FIRST_WAIT_MS;
    for (;;) {
      const holder = this.#attempt();
      if (holder === null) return;
      const waited = performance.now() - start;
      const left = this.#busyTimeoutMs - waited;
      const hopeless = this.#blocking && heldHere.has(holder.token);
      if (left <= 0 || hopeless) {
        this.#mark(false);
        const advice = hopeless ? "; it is another store of this thread, and a synchronous one cannot wait for it" : "";
        throw new StoreBusy(this.#place, Math.round(waited), describe(holder), advice);
      }
      // Jitter, or waiters would go on colliding.
      yield { kind: "sleep", ms: Math.min(left, wait * (0.5 + Math.random())) };
      wait = Math.min(wait * 1.5, LONGEST_WAIT_MS);
    }
  }

  /** Takes the lease if nobody is writing. */
  tryAcquire(): boolean {
    if (this.#attempt() === null) return true;
    this.#mark(false);
    return false;
  }

  /** Whether the lock is still ours: a mark tells others only while it is. */
  isStillOurs(): boolean {
    return this.#lock?.isInPlace() ?? false;
  }

  /** Lets others write. The lock stays ours until somebody wants it. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#inherited = false;
    heldHere.delete(this.#owner.token);
    this.#mark(false);
  }

  /** Whether another living store has the place open. Needs the lease. Clears away what dead ones left. */
  hasCompany(): boolean {
    let company = false;
    for (const { file, owner } of this.#traces()) {
      // Those of heirs go by their own rule (lock-file.ts): a living one may have taken it since we looked.
      if (owner.token === this.#owner.token || file.endsWith(HEIR)) continue;
      // One without a name is being written, unless it is an image or a log whose maker must have had the lease.
      if (owner.token === "" && !file.endsWith(".new")) continue;
      if (isDead(owner, file)) fs.rmSync(file, { force: true });
      else company = true;
    }
    return company;
  }

  /** Gives the lock back too. What fails here, the next one to open clears away. */
  close(): void {
    this.release();
    attempt(() => {
      // As if taking it over from ourselves: another one may be doing so right now.
      const heir = heirOf(this.#lockFile, this.#owner.token);
      if (!this.isStillOurs() || takeLock(heir, this.#file) !== null) return;
      // Who gave up waiting leaves the lock: it names the one who is still writing, for those who come after.
      if (this.isStillOurs() && this.#predecessorAtWork() === null) attempt(() => dropLock(this.#lockFile));
      dropLock(heir);
    });
    attempt(() => this.#closeLock());
    attempt(() => this.#file.close());
    attempt(() => {
      for (const { file, owner } of this.#traces()) {
        if (owner.token === this.#owner.token) fs.rmSync(file, { force: true });
      }
    });
  }

  /** Owner files beside the lock, and links to them that a takeover made. */
  #traces(): { readonly file: string; readonly owner: Owner }[] {
    const folder = path.dirname(this.#lockFile);
    const prefix = `${path.basename(this.#lockFile)}.`;
    const files = fs.readdirSync(folder).filter((name) => name.startsWith(prefix));
    return files.flatMap((name) => {
      const file = path.join(folder, name);
      const found = readOwnerFile(file);
      return found === null ? [] : [{ file, owner: found.owner }];
    });
  }

  /** One attempt: null when the lease is ours now, else who stands in the way. */
  #attempt(): Owner | null {
    let rival: Owner | null;
    try {
      rival = this.#translating(() => this.#become());
    } catch (error) {
      this.#mark(false);
      throw error;
    }
    if (rival === null) {
      this.#held = true;
      heldHere.add(this.#owner.token);
    }
    return rival;
  }

  #become(): Owner | null {
    // Whoever gets in between is faster a few times, not for ever; then it counts as somebody to wait for.
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      this.#file.mark(true);
      if (this.isStillOurs()) {
        const writer = this.#predecessorAtWork();
        if (writer !== null) this.#file.mark(false);
        return writer;
      }
      // Not ours: unmarked at once, or we and who took it over would wait for each other.
      this.#file.mark(false);
      const found = readOwnerFile(this.#lockFile);
      const rival = found === null ? this.#linkLock() : this.#takeOver(found);
      if (rival !== null) return rival;
    }
    return this.#owner;
  }

  #linkLock(): null {
    this.#follow(null);
    if (linkTo(this.#file, this.#lockFile)) this.#openLock();
    return null;
  }

  /** Makes the lock ours when its holder is not writing, or dead; else says who must be waited for. */
  #takeOver({ owner }: Sighting): Owner | null {
    const rival = this.#inTheWay();
    if (rival !== null) return rival;
    const heir = heirOf(this.#lockFile, owner.token);
    const other = takeLock(heir, this.#file);
    if (other !== null) return other;
    try {
      // Looked at anew: before we had the heir's lock it may have gone to somebody and come back.
      const found = readOwnerFile(this.#lockFile);
      if (found?.owner.token !== owner.token) return null;
      const stillThere = this.#inTheWay(found);
      if (stillThere !== null) return stillThere;
      const isGone = this.#isGone(owner);
      this.#follow(isGone ? null : owner.token);
      replaceLock(this.#file, this.#lockFile);
      this.#openLock();
      if (isGone) {
        this.#inherited ||= found.isWriting;
        if (owner.token !== this.#owner.token) fs.rmSync(`${this.#lockFile}.${owner.token}`, { force: true });
      }
      return null;
    } finally {
      dropLock(heir);
    }
  }

  /** Who is writing under the lock as it is now, by its own right or from before; null when nobody is. */
  #inTheWay(found: Sighting | null = readOwnerFile(this.#lockFile)): Owner | null {
    if (found === null) return null;
    if (found.isWriting && !this.#isGone(found.owner)) return found.owner;
    return found.predecessor === null ? null : this.#writerBehind(found.predecessor);
  }

  /** Dead, or a link to a file of our own that was swept away: nobody's either. */
  #isGone(owner: Owner): boolean {
    return owner.token === this.#owner.token || isDead(owner, this.#lockFile);
  }

  /** From now on the kernel can tell whether it is still ours. Somebody may have been faster than this. */
  #openLock(): void {
    this.#closeLock();
    let fd: number;
    try {
      fd = fs.openSync(this.#lockFile, "r");
    } catch (error) {
      if (systemCode(error) === "ENOENT") return;
      throw error;
    }
    const isSame = this.#file.isSame(fd);
    const isInPlace = isSame ? placeOf(this.#lockFile, fd) : null;
    if (isInPlace === null) fs.closeSync(fd);
    else this.#lock = { fd, isInPlace };
    // Somebody put a copy in the place of our file: what is linked from it is not ours.
    if (!isSame && readOwnerFile(this.#lockFile)?.owner.token === this.#owner.token) this.#remakeFile();
  }

  #remakeFile(): void {
    fs.rmSync(this.#file.path, { force: true });
    const file = this.#makeFile();
    this.#file.abandon();
    this.#file = file;
    this.#predecessor = null;
  }

  #closeLock(): void {
    if (this.#lock !== null) fs.closeSync(this.#lock.fd);
    this.#lock = null;
  }

  #predecessorAtWork(): Owner | null {
    if (this.#predecessor === null) return null;
    const writer = this.#writerBehind(this.#predecessor);
    if (writer === null) this.#follow(null);
    return writer;
  }

  /** The owner of a token if it is alive and writing. Once it is not, it cannot begin again: the lock is not its own. */
  #writerBehind(token: string): Owner | null {
    const file = `${this.#lockFile}.${token}`;
    const found = readOwnerFile(file);
    if (found === null || !found.isWriting) return null;
    if (!isDead(found.owner, file)) return found.owner;
    this.#inherited = true;
    return null;
  }

  #follow(predecessor: string | null): void {
    if (this.#predecessor === predecessor) return;
    this.#file.follow(predecessor);
    this.#predecessor = predecessor;
  }

  /** A mark that cannot be taken away makes others wait longer, and is no reason to fail what is done. */
  #mark(isWriting: boolean): void {
    try {
      this.#file.mark(isWriting);
    } catch {
      // The next attempt writes it anew.
    }
  }

  #makeFile(): OwnerFile {
    return new OwnerFile(`${this.#lockFile}.${this.#owner.token}`, this.#owner, this.#mode);
  }

  #translating<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      // Somebody cleared the directory while the store was open.
      if (systemCode(error) === "ENOENT" && this.#file !== undefined && identityAt(this.#file.path) === null) {
        this.#translating(() => this.#remakeFile());
        return this.#translating(work);
      }
      throw this.#cannotLock(error);
    }
  }

  #cannotLock(cause: unknown): PerdureError {
    if (cause instanceof PerdureError) return cause;
    const refuse = (code: RefusalCode, problem: string): StorageRefused =>
      new StorageRefused(code, this.#place, problem, { cause });
    const code = systemCode(cause);
    switch (code) {
      case "ENOENT":
      case "ENOTDIR":
        return refuse("storage-missing", "its directory is not there");
      case "EACCES":
      case "EROFS":
        return refuse("storage-denied", "no permission to make the lock file beside it");
      case "EPERM":
      case "ENOTSUP":
      case "ENOSYS":
        return refuse("unsupported", "the lock file beside it is a hard link, and this file system has none");
      case "EIO":
      case "ENOSPC":
      case "EDQUOT":
        return new FlushFailed(this.#place, cause);
      default:
        return refuse("storage-denied", `the lock file beside it cannot be made (${code ?? "unknown"})`);
    }
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The caller says why this may fail.
  }
}
