// A SQLite file and its log as one thing: opened together, made together, and asked together whether they are still as
// they were left. Needs the lease, except for `isCurrent`. Knows nothing of commits.
import { ImageCorrupt, StorageRefused } from "../../src/errors.ts";
import type { LoadedImage, PageDelta } from "../../src/port.ts";
import { BaseFile } from "./base-file.ts";
import { translating } from "./translating.ts";
import { type Program, remove, syncDirectoryOf } from "./disk.ts";
import { identityAt } from "./in-place.ts";
import { LogFile, randomSalt } from "./log-file.ts";
import { type LogPosition, type Scanned, startLog } from "./wal.ts";

/** What was read of base and log together. */
export interface Opened {
  readonly image: LoadedImage;
  /** The pages that the log holds. */
  readonly logged: Iterable<number>;
}

export class Files {
  readonly #path: string;
  readonly #place: string;
  #base: BaseFile | null = null;
  #log: LogFile | null = null;
  #madeLog = false;

  constructor(path: string, place: string) {
    this.#path = path;
    this.#place = place;
  }

  /** Null as long as there is no file. With it there always is a log. */
  get pair(): { readonly base: BaseFile; readonly log: LogFile } | null {
    return this.#base === null || this.#log === null ? null : { base: this.#base, log: this.#log };
  }

  /** Whether there was no log before us. */
  get madeLog(): boolean {
    return this.#madeLog;
  }

  get logPath(): string {
    return `${this.#path}-wal`;
  }

  /** Reads both, or refuses; null when there is no file. Makes an empty log where there is none. */
  *open(isStrict: boolean, isInherited = false): Program<Opened | null> {
    this.close();
    const base = BaseFile.open(this.#path, this.#place);
    const found = translating(this.#place, () => LogFile.open(this.logPath));
    this.#base = base;
    this.#log = found?.log ?? null;
    const scanned = found === null || found.scanned.pageCount === null ? null : found.scanned;
    if (base === null) {
      this.#refuseLogWithoutBase(scanned);
      return null;
    }
    this.#refuseOtherLog(base, scanned);
    const image = base.load(scanned);
    if (this.#log === null) {
      // Without a log of our own making we could not tell whether others wrote and took theirs away again.
      yield* this.#makeLog(base.pageSize);
    } else if (isStrict) {
      // Its writer may have died before its sync; from now on everybody may see it (L2, L3).
      yield* isInherited ? this.#log.rewriteAll() : this.#log.sync();
      syncDirectoryOf(this.#path);
    }
    return { image, logged: scanned?.pages.keys() ?? [] };
  }

  /** Makes both, the file with these pages. */
  *create(delta: PageDelta): Program<void> {
    const base = yield* BaseFile.create(this.#path, this.#place, this.#temporary(), delta);
    this.#base = base;
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
    const log = yield* LogFile.create(this.logPath, this.#temporary(), this.#base!.mode, start, delta);
    this.#log?.close();
    this.#log = log;
  }

  /** Whether both are as we left them. */
  isCurrent(): boolean {
    return translating(this.#place, () => {
      return this.#log === null ? identityAt(this.#path) === null : this.#log.isCurrent();
    });
  }

  /** Whether somebody wrote since we looked. That the log is still in its place is asked after the write. */
  isOvertaken(): boolean {
    if (this.#log === null) return !this.isCurrent();
    return !this.#log.isSameLog() || this.#log.hasMore();
  }

  refuseReplaced(): void {
    if (this.#base === null || this.#base.isInPlace()) return;
    const problem = "the file was replaced or removed while it was open; open it again";
    throw new StorageRefused("storage-replaced", this.#place, problem);
  }

  close(): void {
    this.#log?.close();
    this.#base?.close();
    this.#log = null;
    this.#base = null;
  }

  /** SQLite would delete such a log as left over; what is in it may be all that is left (L7). */
  #refuseLogWithoutBase(scanned: Scanned | null): void {
    this.close();
    if (scanned === null) return;
    throw new ImageCorrupt(this.#place, "the database is gone but its log (-wal) holds committed pages");
  }

  #refuseOtherLog({ pageSize }: BaseFile, scanned: Scanned | null): void {
    if (this.#log === null && LogFile.isSomethingElse(this.logPath)) {
      const problem = "what lies beside it as its log (-wal) is no log; move it away to open without it";
      throw new ImageCorrupt(this.#place, problem);
    }
    if (this.#log === null || this.#log.position.pageSize === pageSize) return;
    if (scanned !== null) throw new ImageCorrupt(this.#place, "its log has pages of another size");
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
