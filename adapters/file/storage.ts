// A SQLite file and its log, under a lease: what the port asks for, written once as programs that both adapters run.
// Order is everything here; each comment says which law a line keeps.
import { Fenced, FlushFailed, ImageCorrupt, PerdureError, StorageRefused } from "../../src/errors.ts";
import type { LoadedImage, News, PageDelta, Pages } from "../../src/port.ts";
import { BaseFile, translating } from "./base-file.ts";
import { Checkpoint, DEFAULT_CHECKPOINT_FRAMES, SLICE_PAGES } from "./checkpoint.ts";
import { identityAt, inspect, type Program, remove, resolvePlace, syncDirectoryOf } from "./disk.ts";
import { judge } from "./heal.ts";
import { Lease } from "./lease.ts";
import { LogFile, randomSalt } from "./log-file.ts";
import { WalIndex } from "./shm.ts";
import { type LogPosition, type Scanned, startLog } from "./wal.ts";

export interface FileOptions {
  /** "strict" (default): a commit outlives a power cut. "relaxed": it outlives the process. */
  readonly durability?: "strict" | "relaxed";
  /** Milliseconds to wait for another writer before `StoreBusy`. Default 5000. */
  readonly busyTimeoutMs?: number;
  /** Refuse to start fresh when nothing is there. Default false. */
  readonly mustExist?: boolean;
  /** Frames in the log (one for each page a commit changed) after which it is moved into the file. Default 1000. */
  readonly checkpointFrames?: number;
}

const DEFAULT_BUSY_TIMEOUT_MS = 5000;

export class FileStorage {
  readonly place: string;
  readonly #strict: boolean;
  readonly #busyTimeoutMs: number;
  readonly #mustExist: boolean;
  /** Whether waiting blocks the thread. */
  readonly #blocking: boolean;
  readonly #slicePages: number;
  #path = "";
  #lease: Lease | null = null;
  #base: BaseFile | null = null;
  /** Null as long as there is no file. */
  #log: LogFile | null = null;
  /** Whether there was no log before us. */
  #madeLog = false;
  #shm: WalIndex = new WalIndex("");
  readonly #checkpoint: Checkpoint;
  /** What the store holds as its position. The log's own one may be newer: a checkpoint starts it over. */
  #known: LogPosition = startLog(4096, 0, 0, 0);
  /** What must be put right in storage before anything else; until then the lease is kept, so that nobody sees it. */
  #repair: (() => Program<void>) | null = null;

  constructor(place: string, options: FileOptions, blocking: boolean) {
    this.place = place;
    this.#strict = options.durability !== "relaxed";
    this.#busyTimeoutMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
    this.#mustExist = options.mustExist ?? false;
    this.#checkpoint = new Checkpoint(options.checkpointFrames ?? DEFAULT_CHECKPOINT_FRAMES);
    this.#blocking = blocking;
    // Relaxed, the log may reach the disk later than the base would; so it is made durable once, and all is copied.
    this.#slicePages = this.#strict ? SLICE_PAGES : Infinity;
  }

  *load(): Program<LoadedImage & { readonly position: LogPosition }> {
    this.#path = translating(this.place, () => resolvePlace(this.place));
    this.#refuseEarly();
    this.#shm = new WalIndex(this.#path);
    this.#lease = new Lease(this.#path, this.#busyTimeoutMs, this.#blocking);
    // Base and log must be read as one: a checkpoint in between would mix two states.
    return yield* this.#leased(() => this.#loadAll());
  }

  *pull(since: LogPosition, pages: Pages): Program<News | null> {
    // The lease is ours until the repair: nobody else can have written, and our own rejected frames are no news.
    if (this.#repair !== null) return null;
    if (this.#lease!.held) this.#refuseReplacedBase();
    if (this.#isCurrent()) return null;
    // Frames that are on their way may not be seen before they are durable (L3): wait for their writer.
    return yield* this.#leased(() => this.#catchUp(since, pages));
  }

  *lock(): Program<() => void> {
    const lease = this.#lease!;
    if (!lease.held) yield* lease.acquire();
    try {
      if (this.#repair !== null) yield* this.#runRepair();
      return () => this.#release();
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  *append(delta: PageDelta, after: LogPosition): Program<LogPosition> {
    // Fenced by what is in storage, not only by the lease (L4): the process may have been frozen since the pull.
    if (after !== this.#known || this.#isOvertaken()) throw new Fenced(this.place);
    try {
      if (this.#log === null) yield* this.#createBase(delta);
      else yield* this.#appendFrames(this.#log, delta);
    } catch (error) {
      throw error instanceof PerdureError ? error : new FlushFailed(this.place, error);
    }
    this.#forgetIndex();
    return this.#known;
  }

  *checkpoint(pages: Pages): Program<void> {
    if (this.#log === null || this.#repair !== null || !this.#checkpoint.isDue(this.#log.position)) return;
    yield* this.#advanceCheckpoint(this.#log, pages);
  }

  /**
   * Leaves a file that is complete by itself, when nobody else needs the log; of a place that was refused (`pages` is
   * null), what was found. What fails here was durable before.
   */
  *close(pages: Pages | null): Program<void> {
    const lease = this.#lease;
    try {
      if (lease === null || (!lease.held && !lease.tryAcquire())) return;
      if (this.#repair !== null) yield* this.#runRepair();
      const log = this.#log;
      if (log === null || !this.#isCurrent() || this.#base?.isInPlace() !== true) return;
      if (pages !== null && log.position.frames > 0) yield* this.#advanceCheckpoint(log, pages, Infinity);
      const isNeeded = this.#repair !== null || log.position.frames > 0 || this.#shm.exists() || lease.hasCompany();
      if (!isNeeded && (pages !== null || this.#madeLog)) remove(`${this.#path}-wal`);
    } catch {
      // The next one to open finds the log and goes on from there.
    } finally {
      this.#closeFiles();
      lease?.close();
    }
  }

  /** What can be seen without the lease, so that a place that is refused is not even locked. */
  #refuseEarly(): void {
    const found = translating(this.place, () => inspect(this.#path));
    if (found === null) {
      if (this.#mustExist) throw new StorageRefused("storage-missing", this.place, "nothing is there (mustExist)");
      return;
    }
    translating(this.place, () => BaseFile.open(this.#path, this.place))?.close();
  }

  *#loadAll(): Program<LoadedImage & { readonly position: LogPosition }> {
    this.#lease!.hasCompany();
    this.#closeFiles();
    this.#base = BaseFile.open(this.#path, this.place);
    const found = translating(this.place, () => LogFile.open(`${this.#path}-wal`));
    if (this.#base === null) {
      this.#refuseLogWithoutBase(found);
      return { pageSize: this.#known.pageSize, pageCount: 0, chunks: [], position: this.#known };
    }
    if (found === null && LogFile.isSomethingElse(`${this.#path}-wal`)) {
      throw new ImageCorrupt(
        this.place,
        "what lies beside it as its log (-wal) is no log; move it away to open without it",
      );
    }
    const scanned = this.#adoptLog(found, this.#base.pageSize);
    const image = this.#base.load(scanned);
    // Without a log of our own making we could not tell whether others wrote and took theirs away again.
    if (this.#log === null) yield* this.#createLog(this.#base.pageSize);
    // Its writer may have died before its sync; from now on everybody may see it (L2, L3).
    if (this.#strict && found !== null && found.log === this.#log) {
      yield* found.log.sync();
      syncDirectoryOf(this.#path);
    }
    this.#forgetIndex();
    return { ...image, position: this.#known };
  }

  #adoptLog(found: ReturnType<typeof LogFile.open>, pageSize: number): Scanned | null {
    this.#checkpoint.reset();
    if (found === null || found.log.position.pageSize !== pageSize) {
      found?.log.close();
      if (found?.scanned.pageCount) throw new ImageCorrupt(this.place, "its log has pages of another size");
      return null;
    }
    this.#log = found.log;
    this.#known = found.log.position;
    this.#checkpoint.note(found.scanned.pages.keys());
    return found.scanned.pageCount === null ? null : found.scanned;
  }

  /** SQLite would delete such a log as left over; what is in it may be all that is left (L7). */
  #refuseLogWithoutBase(found: ReturnType<typeof LogFile.open>): void {
    found?.log.close();
    if (found === null || found.scanned.pageCount === null) return;
    throw new ImageCorrupt(this.place, "the database is gone but its log (-wal) holds committed pages");
  }

  /** Whether base and log are as we left them. */
  #isCurrent(): boolean {
    return translating(this.place, () => {
      return this.#log === null ? identityAt(this.#path) === null : this.#log.isCurrent();
    });
  }

  /** Whether somebody wrote since we looked. That the log is still in its place is asked after the write. */
  #isOvertaken(): boolean {
    if (this.#log === null) return !this.#isCurrent();
    return !this.#log.isSameLog() || this.#log.hasMore();
  }

  #refuseReplacedBase(): void {
    if (this.#base === null || this.#base.isInPlace()) return;
    throw new StorageRefused(
      "storage-replaced",
      this.place,
      "the file was replaced or removed while it was open; open it again",
    );
  }

  *#catchUp(since: LogPosition, pages: Pages): Program<News | null> {
    if (since !== this.#known) throw new Fenced(this.place);
    // It may have changed while the lease was waited for.
    if (this.#isCurrent()) return null;
    this.#refuseReplacedBase();
    const base = this.#base;
    const log = this.#log;
    if (base === null || log === null) return yield* this.#reload();
    if (!log.isInPlace() || !log.isSameLog()) return yield* this.#heal(base, log, pages);
    const scanned = log.readOn();
    if (scanned.pageCount === null) {
      // A writer died in the middle: what it wrote is no transaction, and must not be looked at again and again.
      yield* log.wipe({ ...log.position, frames: log.position.frames + 1 });
      return null;
    }
    if (this.#strict) yield* this.#lease!.inherited ? log.rewrite(scanned.position) : log.sync();
    log.advance(scanned.position);
    this.#known = scanned.position;
    this.#checkpoint.note(scanned.pages.keys());
    return { position: this.#known, delta: toDelta(scanned) };
  }

  *#reload(): Program<News> {
    const { position, ...image } = yield* this.#loadAll();
    return { position, image };
  }

  /** The log is not the one we knew. */
  *#heal(base: BaseFile, log: LogFile, pages: Pages): Program<News> {
    // Others may have appended to the old file before it was taken away; it is still open here.
    const last = !log.isInPlace() && log.isSameLog() ? log.readOn() : null;
    if (last !== null) log.advance(last.position);
    const whole = last === null ? pages : overlay(pages, last);
    const found = LogFile.open(`${this.#path}-wal`);
    try {
      const verdict = judge(this.place, base, log, whole, found);
      if (verdict === "disk") return yield* this.#reload();
      const missing = verdict === "ours" ? base.differences(whole) : new Map<number, Uint8Array>();
      const delta = missing.size === 0 ? null : { pageSize: base.pageSize, pageCount: whole.pageCount, pages: missing };
      this.#log = yield* this.#newLog(log.successor(), delta);
      log.close();
      this.#known = this.#log.position;
      this.#checkpoint.reset();
      this.#checkpoint.note(missing.keys());
      this.#forgetIndex();
      const { pageSize, pageCount } = whole;
      return {
        position: this.#known,
        delta: { pageSize, pageCount, pages: last?.pages ?? new Map<number, Uint8Array>() },
      };
    } finally {
      found?.log.close();
    }
  }

  *#createBase(delta: PageDelta): Program<void> {
    const base = yield* BaseFile.create(this.#path, this.place, this.#temporary(), delta);
    this.#base = base;
    try {
      yield* this.#createLog(delta.pageSize);
    } catch (error) {
      // A commit that is refused leaves nothing behind: not even a file that nobody else can have seen.
      if (base.isInPlace()) remove(this.#path);
      this.#closeFiles();
      throw error;
    }
  }

  *#createLog(pageSize: number): Program<void> {
    this.#log = yield* this.#newLog(startLog(pageSize, 0, randomSalt(), randomSalt()), null);
    this.#known = this.#log.position;
    this.#madeLog = true;
  }

  #newLog(start: LogPosition, delta: PageDelta | null): Program<LogFile> {
    return LogFile.create(`${this.#path}-wal`, this.#temporary(), this.#base!.mode, start, delta);
  }

  *#appendFrames(log: LogFile, delta: PageDelta): Program<void> {
    // Where the frames will end is not known before they are made; a frame a page is.
    const end = { ...log.position, frames: log.position.frames + delta.pages.size };
    this.#repair = () => log.wipe(end);
    try {
      const position = log.write(delta);
      if (this.#strict) yield* log.sync();
      // Taken away while we wrote: what is in it now, nobody will find (L5).
      if (!log.isInPlace()) throw new Fenced(this.place);
      log.advance(position);
      this.#known = position;
      this.#repair = null;
      this.#checkpoint.note(delta.pages.keys());
    } catch (error) {
      yield* this.#tryRepair();
      throw error;
    }
  }

  *#advanceCheckpoint(log: LogFile, pages: Pages, slicePages: number = this.#slicePages): Program<void> {
    // A stock reader has no way to tell us what it still needs, but Linux tells that there is one.
    if (this.#shm.hasReaders()) return;
    try {
      // The base may not run ahead of the log: half of a checkpoint needs all of the log over it.
      if (!this.#strict) yield* log.sync();
      if (!(yield* this.#checkpoint.advance(this.#base!, pages, slicePages))) return;
    } catch {
      return; // kept for the next try; the log still has everything
    }
    const start = log.successor();
    this.#repair = () => this.#checkpoint.finish(log, start);
    yield* this.#tryRepair();
    this.#forgetIndex();
  }

  *#runRepair(): Program<void> {
    try {
      yield* this.#repair!();
      this.#repair = null;
    } catch (error) {
      throw new FlushFailed(this.place, error);
    }
  }

  /** A repair that fails stays due: the next write tries again before it does anything else. */
  *#tryRepair(): Program<void> {
    try {
      yield* this.#runRepair();
    } catch {
      // The error that made it necessary is the one to report.
    }
  }

  *#leased<T>(work: () => Program<T>): Program<T> {
    const lease = this.#lease!;
    if (lease.held) return yield* translatingProgram(this.place, work());
    yield* lease.acquire();
    try {
      return yield* translatingProgram(this.place, work());
    } finally {
      this.#release();
    }
  }

  #release(): void {
    if (this.#repair === null) this.#lease!.release();
  }

  /** The index only serves stock readers: a commit does not fail for it. */
  #forgetIndex(): void {
    try {
      this.#shm.invalidate();
    } catch {
      // No permission to touch it, then its owner's readers see our commits when they open the file anew.
    }
  }

  #closeFiles(): void {
    this.#log?.close();
    this.#base?.close();
    this.#log = null;
    this.#base = null;
  }

  /** Cleared away with the lock files should we die. */
  #temporary(): string {
    return `${this.#path}-lock.${crypto.randomUUID().replaceAll("-", "")}.new`;
  }
}

function toDelta({ position, pages, pageCount }: Scanned): PageDelta {
  return { pageSize: position.pageSize, pageCount: pageCount!, pages };
}

/** `pages` with what was scanned on top. */
function overlay(pages: Pages, { pages: newer, pageCount }: Scanned): Pages {
  return {
    pageSize: pages.pageSize,
    pageCount: pageCount ?? pages.pageCount,
    page: (number) => newer.get(number) ?? pages.page(number),
  };
}

/** Reads that fail are errors about the place. */
function* translatingProgram<T>(place: string, program: Program<T>): Program<T> {
  let step = translating(place, () => program.next());
  while (step.done !== true) {
    try {
      yield step.value;
    } catch (error) {
      step = translating(place, () => program.throw(error));
      continue;
    }
    step = translating(place, () => program.next());
  }
  return step.value;
}
