// A SQLite file and its log as one thing: opened together, made together, and asked together whether they are still as
// they were left. Needs the lease, except for `isCurrent`. Knows nothing of commits.
import { ImageCorrupt, StorageRefused } from "../../src/errors.ts";
import type { LoadedImage, PageDelta, Pages } from "../../src/port.ts";
import type { Base } from "../wal/base.ts";
import { committed, refuseOtherLog } from "../wal/database-file.ts";
import { type Log, randomSalt } from "../wal/log.ts";
import type { Program } from "../wal/program.ts";
import { type LogPosition, type Scanned, startLog } from "../wal/wal.ts";
import { createBase, modeOf, openBase } from "./base-file.ts";
import { remove, syncDirectoryOf } from "./disk.ts";
import { identityAt } from "./in-place.ts";
import { KnownBase } from "./known-base.ts";
import { createLog, isOtherThanLog, openLog } from "./log-file.ts";
import { translating } from "./translating.ts";

/** What was read of base and log together. */
export interface Opened {
  readonly image: LoadedImage;
  /** The pages that the log holds. */
  readonly logged: Iterable<number>;
}

/** A SQLite file and its log. */
export interface Pair {
  readonly base: Base;
  readonly log: Log;
}

export class Files {
  readonly #path: string;
  readonly #place: string;
  #base: Base | null = null;
  #log: Log | null = null;
  #madeLog = false;
  #known: KnownBase | null = null;
  #isOverwritten = false;

  constructor(path: string, place: string) {
    this.#path = path;
    this.#place = place;
  }

  /** Null as long as there is no file. With it there always is a log. */
  get pair(): Pair | null {
    return this.#base === null || this.#log === null ? null : { base: this.#base, log: this.#log };
  }

  /** Whether there was no log before us. */
  get madeLog(): boolean {
    return this.#madeLog;
  }

  get logPath(): string {
    return `${this.#path}-wal`;
  }

  /**
   * Reads both, or refuses; null when there is no file. Makes an empty log where there is none. `isLeft`: what is in the log
   * may have been in a sync that failed, or in none.
   */
  *open(isStrict: boolean, isLeft = false): Program<Opened | null> {
    this.close();
    try {
      return yield* this.#openBoth(isStrict, isLeft);
    } catch (error) {
      // Nobody has what is in this log: it must not count as the one that is known (L2, L4).
      this.#log?.close();
      this.#log = null;
      throw error;
    }
  }

  *#openBoth(isStrict: boolean, isLeft: boolean): Program<Opened | null> {
    const base = openBase(this.#path, this.#place);
    const found = translating(this.#place, () => openLog(this.logPath));
    // The log first: reading the base may fail, and then it is closed with the rest.
    this.#log = found?.log ?? null;
    this.#noteBase(base);
    const scanned = committed(found?.scanned ?? null);
    if (base === null) {
      this.#refuseLogWithoutBase(scanned);
      return null;
    }
    this.#refuseOtherLog(base, scanned);
    // Relaxed, a power cut may have left such a log, and what lies behind the hole was never promised.
    if (isStrict) this.#log?.refuseHole(this.#place);
    const image = base.load(scanned);
    if (this.#log === null) {
      // Without a log of our own making we could not tell whether others wrote and took theirs away again.
      yield* this.#makeLog(base.pageSize);
    } else {
      // From now on everybody may see it (L2, L3).
      if (isStrict) yield* isLeft ? this.#log.rewriteAll() : this.#log.sync();
      // Relaxed too: a base that is half of a checkpoint is nothing without its log.
      syncDirectoryOf(this.#path);
    }
    return { image, logged: scanned?.pages.keys() ?? [] };
  }

  /** Makes both, the file with these pages. */
  *create(delta: PageDelta): Program<void> {
    const base = yield* createBase(this.#path, this.#place, this.#temporary(), delta);
    this.#noteBase(base);
    try {
      yield* this.#makeLog(delta.pageSize);
    } catch (error) {
      // A commit that is refused leaves nothing behind: not even a file that nobody else can have seen.
      if (base.isInPlace()) remove(this.#path);
      this.close();
      throw error;
    }
  }

  /** Puts a new log in place of whatever is there, with `delta` as its first transaction. */
  *replaceLog(start: LogPosition, delta: PageDelta | null): Program<void> {
    const log = yield* createLog(this.logPath, this.#temporary(), modeOf(this.#path), start, delta);
    this.#log?.close();
    this.#log = log;
  }

  /** Whether both are as we left them. */
  isCurrent(): boolean {
    return translating(this.#place, () => {
      return this.#log === null ? identityAt(this.#path) === null : this.#log.isCurrent();
    });
  }

  /** Whether somebody wrote, or cut the log, since we looked. That it is still in its place is asked after the write. */
  isOvertaken(): boolean {
    return this.#log === null ? !this.isCurrent() : !this.#log.isUnchanged();
  }

  /** Refuses a file that is not ours any more. What was written over in place is only known to be when `mayFold` said so. */
  refuseReplaced(): void {
    if (this.#isOverwritten) {
      const problem =
        "another database was copied over it while it was open, or it was cut; nothing was written into it, and the log " +
        "(-wal) is kept. Restore the file, or move the log away to open what is there now";
      throw new StorageRefused("storage-replaced", this.#place, problem);
    }
    if (this.#base === null || this.#base.isInPlace()) return;
    const problem = "the file was replaced or removed while it was open; open it again";
    throw new StorageRefused("storage-replaced", this.#place, problem);
  }

  /**
   * Whether what is in memory may go to the base, or over it: not when another database was copied there. `isFirst`: it is
   * not one more step of a checkpoint that was asked for already.
   */
  mayFold(pages: Pages, isLogged: (number: number) => boolean, isFirst: boolean): boolean {
    if (this.#log !== null) this.#isOverwritten ||= this.#known?.admits(this.#log, pages, isLogged, isFirst) === false;
    return !this.#isOverwritten;
  }

  /** Never throws: a file that does not close goes with its process, and nothing that was written depends on it. */
  close(): void {
    for (const file of [this.#log, this.#base]) {
      try {
        file?.close();
      } catch {
        // Said above.
      }
    }
    this.#log = null;
    this.#base = null;
  }

  #noteBase(base: Base | null): void {
    this.#base = base;
    this.#known = base === null ? null : new KnownBase(base);
    this.#isOverwritten = false;
  }

  /** SQLite would delete such a log as left over; what is in it may be all that is left (L7). */
  #refuseLogWithoutBase(scanned: Scanned | null): void {
    this.close();
    if (scanned === null) return;
    const problem = "the database is gone but its log (-wal) holds committed pages";
    throw new ImageCorrupt(this.#place, problem, { where: { part: "base" } });
  }

  #refuseOtherLog({ pageSize }: Base, scanned: Scanned | null): void {
    refuseOtherLog(this.#place, pageSize, scanned, this.#log === null && isOtherThanLog(this.logPath));
    if (this.#log === null || this.#log.position.pageSize === pageSize) return;
    this.#log.close();
    this.#log = null;
  }

  *#makeLog(pageSize: number): Program<void> {
    yield* this.replaceLog(startLog(pageSize, 0, randomSalt(), randomSalt()), null);
    this.#madeLog = true;
  }

  /** Cleared away with the lock files should we die. */
  #temporary(): string {
    return `${this.#path}-lock.${crypto.randomUUID().replaceAll("-", "")}.new`;
  }
}
