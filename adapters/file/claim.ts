// How the lock changes hands (L4): the steps that must keep two from writing at once, and nothing of waiting. The lock file
// names who has it; the lease stays with whoever wrote last, so that writing again costs two marks in a file and no work
// on the directory (which would slow the commit's own sync by a third). Another one moves it over: it makes the lock its
// own first and then waits until the former holder is seen not writing. The former holder marks itself as writing first
// and then looks whether the lock is still its own. So whichever comes second sees the other, and never do both write.
import * as fs from "node:fs";
import * as path from "node:path";
import { systemCode } from "../../src/errors.ts";
import { covers, isBehind, type Reached } from "../wal/lineage.ts";
import { identityAt, placeOf } from "./in-place.ts";
import { dropLock, HEIR, heirOf, linkTo, replaceLock, takeLock } from "./lock-file.ts";
import { isDead, noteClosed, type Owner } from "./owner.ts";
import { OwnerFile, readOwnerFile, type Sighting } from "./owner-file.ts";

const MOST_TRIES = 100;

/** One store's claim to the lock of a place. What it throws are the system's own errors. */
export class Claim {
  readonly #lockFile: string;
  readonly #owner: Owner;
  readonly #mode: number;
  #file: OwnerFile;
  /** Whose last write must be over before the lock means anything. */
  #predecessor: string | null = null;
  /** The lock file, open, since we made it ours. */
  #lock: { readonly fd: number; readonly isInPlace: () => boolean } | null = null;
  #inherited = false;
  #reached: Reached | null = null;
  /** What was missing when we opened, and counts as gone. Others may tell of it for as long as they live. */
  #givenUp: Reached | null = null;

  /** `mode` is the database's: who may use it must be able to read whose turn it is. */
  constructor(lockFile: string, owner: Owner, mode: number) {
    this.#lockFile = lockFile;
    this.#owner = owner;
    this.#mode = mode;
    this.#file = this.#makeFile();
  }

  /** Whether the lock came from a process that died writing. */
  get inherited(): boolean {
    return this.#inherited;
  }

  /** How far those got who had the lock before us, as far as they could tell. */
  get reached(): Reached | null {
    return this.#reached;
  }

  giveUpReached(): void {
    this.#givenUp = this.#reached;
    this.#reached = null;
  }

  /** Whether somebody cleared the directory, our file with it. */
  get isSweptAway(): boolean {
    return identityAt(this.#file.path) === null;
  }

  /** Whether the lock is still ours: a mark tells others only while it is. */
  isStillOurs(): boolean {
    return this.#lock?.isInPlace() ?? false;
  }

  /** Says that we are writing, once nobody else is: null then, else who stands in the way. */
  begin(): Owner | null {
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

  /** Says that we are done writing, and how far that got. */
  end(reached: Reached | null = null): void {
    this.#inherited = false;
    if (reached === null) return this.rest();
    // Who could not catch up with another one hands on what that had got to.
    const isBehindIt = this.#reached !== null && isBehind(reached, this.#reached);
    attempt(() => this.#file.markReached(isBehindIt ? this.#reached! : reached));
    // Ours tells it from now on. Kept, it would be taken for a loss when salts come round, which takes four lost logs.
    if (this.#reached !== null && covers(reached, this.#reached)) this.#reached = null;
  }

  /** Says that we are not writing. A mark that cannot be taken away makes others wait longer, and fails nothing. */
  rest(): void {
    attempt(() => this.#file.mark(false));
  }

  /** Whether another living store has the place open. Needs the lease. Clears away what dead ones left. */
  hasCompany(): boolean {
    let company = false;
    for (const { file, owner } of this.#traces()) {
      if (owner.token === this.#owner.token) continue;
      if (file.endsWith(HEIR)) {
        // By their own rule (lock-file.ts): a living one may have taken it since we looked.
        if (isDead(owner, file) && takeLock(file, this.#file) === null) dropLock(file);
        continue;
      }
      // One without a name is being written, unless it is an image or a log whose maker must have had the lease.
      if (owner.token === "" && !file.endsWith(".new")) continue;
      if (isDead(owner, file)) fs.rmSync(file, { force: true });
      else company = true;
    }
    return company;
  }

  /** Gives the lock back too. What fails here, the next one to open clears away. */
  close(): void {
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
    try {
      for (const { file, owner } of this.#traces()) {
        if (owner.token === this.#owner.token) fs.rmSync(file, { force: true });
      }
      if (readOwnerFile(this.#lockFile)?.owner.token !== this.#owner.token) return;
    } catch {
      // Said below.
    }
    // What is left may say for ever that we are writing, and our process is alive.
    noteClosed(this.#owner);
  }

  /** Owner files beside the lock, and links to them that a takeover made. */
  #traces(): { readonly file: string; readonly owner: Owner }[] {
    const folder = path.dirname(this.#lockFile);
    const prefix = `${path.basename(this.#lockFile)}.`;
    const files = fs.readdirSync(folder).filter((name) => name.startsWith(prefix));
    return files.flatMap((name) => {
      const file = path.join(folder, name);
      // Folders and links that are named so are nobody's.
      if (fs.lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return [];
      const found = readOwnerFile(file);
      return found === null ? [] : [{ file, owner: found.owner }];
    });
  }

  #linkLock(): null {
    this.#follow(null);
    if (linkTo(this.#file, this.#lockFile)) this.#openLock();
    return null;
  }

  /** Makes the lock ours when its holder is not writing, or dead; else says who must be waited for. */
  #takeOver(seen: Sighting): Owner | null {
    const { owner } = seen;
    const rival = this.#inTheWay(seen);
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
      // Of who is alive it is asked once the lock is ours.
      if (isGone) this.#note(found);
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
  #inTheWay(found: Sighting): Owner | null {
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
    if (!isSame && readOwnerFile(this.#lockFile)?.owner.token === this.#owner.token) this.remakeFile();
  }

  /** In the place of one that is gone, or not ours any more. */
  remakeFile(): void {
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
    if (found === null) return null;
    if (found.isWriting && !isDead(found.owner, file)) return found.owner;
    this.#inherited ||= found.isWriting;
    // Once more: it may have been read while it was written, half new and half old.
    this.#note(readOwnerFile(file) ?? found);
    return null;
  }

  #note({ reached }: Sighting): void {
    if (reached === null) return;
    const isKnown = [this.#reached, this.#givenUp].some((known) => known !== null && covers(known, reached));
    if (!isKnown) this.#reached = reached;
  }

  #follow(predecessor: string | null): void {
    if (this.#predecessor === predecessor) return;
    this.#file.follow(predecessor);
    this.#predecessor = predecessor;
  }

  #makeFile(): OwnerFile {
    return new OwnerFile(`${this.#lockFile}.${this.#owner.token}`, this.#owner, this.#mode);
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The caller says why this may fail.
  }
}
