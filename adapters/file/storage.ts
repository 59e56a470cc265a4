// What the port asks for, over a SQLite file and its log, under a lease; written once as programs that both adapters run.
// Order is everything here; comments say which law a line keeps.
import { Fenced, FlushFailed, StoreBusy, systemCode } from "../../src/errors.ts";
import { type LoadedImage, type News, type PageDelta, type Pages, pagesOf, type Problem } from "../../src/port.ts";
import { Checkpoint } from "../wal/checkpoint.ts";
import type { Log } from "../wal/log.ts";
import { overlay, toDelta } from "../wal/pages.ts";
import type { Program } from "../wal/program.ts";
import { Repair } from "../wal/repair.ts";
import { verifyStored } from "../wal/verify.ts";
import { type LogPosition, startLog } from "../wal/wal.ts";
import { refuseEarly } from "./base-file.ts";
import { inspect, refuseStrangers, remove, resolvePlace } from "./disk.ts";
import { Files, type Pair } from "./files.ts";
import { examine } from "./heal.ts";
import { Lease } from "./lease.ts";
import type { FileOptions } from "./options.ts";
import { WalIndex } from "./shm.ts";
import { translating, translatingProgram } from "./translating.ts";

const DEFAULT_BUSY_TIMEOUT_MS = 5000;
const DEFAULT_PAGE_SIZE = 4096;

export class FileStorage {
  readonly place: string;
  readonly #strict: boolean;
  readonly #busyTimeoutMs: number;
  readonly #mustExist: boolean;
  /** Whether waiting blocks the thread. */
  readonly #blocking: boolean;
  readonly #checkpoint: Checkpoint;
  #lease: Lease | null = null;
  #files: Files = new Files("", "");
  #shm: WalIndex = new WalIndex("");
  /** What the store holds as its position. The log's own one may be newer: a checkpoint starts it over. */
  #known: LogPosition = startLog(DEFAULT_PAGE_SIZE, 0, 0, 0);
  /** What is durable, as memory has it. Asked for before every append. */
  #pages: Pages | null = null;
  /** As long as it is due the lease is kept, so that nobody sees what is to be put right. */
  readonly #repair: Repair;

  constructor(place: string, options: FileOptions, blocking: boolean) {
    this.place = place;
    this.#strict = options.durability !== "relaxed";
    this.#busyTimeoutMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
    this.#mustExist = options.mustExist ?? false;
    this.#checkpoint = new Checkpoint(options.checkpointFrames ?? null);
    this.#blocking = blocking;
    this.#repair = new Repair(place);
  }

  *load(): Program<LoadedImage & { readonly position: LogPosition }> {
    const path = translating(this.place, () => refuseStrangers(resolvePlace(this.place), this.place));
    refuseEarly(path, this.place, this.#mustExist);
    this.#files = new Files(path, this.place);
    this.#shm = new WalIndex(path);
    this.#lease = new Lease(path, this.#busyTimeoutMs, this.#blocking, inspect(path)?.mode);
    // Base and log must be read as one: a checkpoint in between would mix two states.
    const loaded = yield* this.#leased(() => this.#loadAll());
    // Of what is gone before we came nobody here knows; it may have been put away on purpose.
    this.#lease.giveUpLoss();
    return loaded;
  }

  *pull(since: LogPosition, pages: Pages): Program<News | null> {
    this.#pages = pages;
    if (since !== this.#known) throw new Fenced(this.place);
    // The lease is ours until the repair: nobody else can have written, and our own rejected frames are no news.
    if (this.#repair.isDue) return null;
    if (this.#lease!.held) this.#files.refuseReplaced();
    if (this.#files.isCurrent()) return this.#nothingNew();
    // Frames that are on their way may not be seen before they are durable (L3): wait for their writer.
    return yield* this.#leased(() => this.#catchUp(pages));
  }

  *lock(): Program<() => void> {
    if (!this.#lease!.held) yield* this.#lease!.acquire();
    try {
      yield* this.#repair.run();
      return () => this.#release();
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  *append(delta: PageDelta, after: LogPosition): Program<LogPosition> {
    yield* this.#repair.run(); // one lease may serve several appends
    // Fenced by what is in storage, not only by the lease (L4): the process may have been frozen since the pull.
    if (after !== this.#known || this.#files.isOvertaken()) throw new Fenced(this.place);
    const { pair } = this.#files;
    try {
      yield* pair === null ? this.#files.create(delta) : this.#appendFrames(pair.log, delta);
      this.#known = this.#files.pair!.log.position;
    } catch (error) {
      throw systemCode(error) === null ? error : new FlushFailed(this.place, error);
    }
    this.#shm.invalidate();
    return this.#known;
  }

  *checkpoint(pages: Pages): Program<void> {
    const { pair } = this.#files;
    if (pair === null || this.#repair.isDue || !this.#checkpoint.isDue(pair.log.position, pages)) return;
    yield* this.#advanceCheckpoint(pair, pages);
  }

  /** Reads everything anew and tells what is not as it should be. Needs the lease. */
  verify(pages: Pages): Problem[] {
    const { pair } = this.#files;
    return pair === null ? [] : translating(this.place, () => verifyStored(pair.base, pair.log, pages));
  }

  /** What fails here was durable before; the next one to open finds the log and goes on from there. */
  *close(pages: Pages | null): Program<void> {
    const lease = this.#lease;
    try {
      if (lease !== null && (lease.held || lease.tryAcquire())) yield* this.#leave(lease, pages);
    } catch {
      // Said above.
    } finally {
      this.#files.close();
      lease?.close();
    }
  }

  /**
   * Leaves a file that is complete by itself, and nothing beside it, when nobody else has it open; of a place that was
   * refused (`pages` is null), what was found.
   */
  *#leave(lease: Lease, pages: Pages | null): Program<void> {
    yield* this.#repair.run();
    const files = this.#files;
    const isAlone = !lease.hasCompany();
    if (files.pair?.base.isInPlace() !== true) return;
    const isCurrent = files.isCurrent();
    if (isCurrent) this.#nothingNew();
    const current = isCurrent || pages === null ? pages : yield* this.#lookOnceMore(files.pair, pages, isAlone);
    if (!isCurrent && current === null) return;
    const { pair } = files;
    if (current !== null && pair.log.position.frames > 0) yield* this.#advanceCheckpoint(pair, current, true);
    const isEmpty = !this.#repair.isDue && pair.log.position.frames === 0;
    const isOurs = pages !== null || files.madeLog;
    if (!isEmpty || !isOurs || !isAlone || this.#shm.isOpen()) return;
    remove(files.logPath);
    this.#shm.remove();
  }

  /**
   * What there is when it is not what we left. Others wrote, and who is last reads that, to leave it whole; or the log was
   * taken away or cut, and what only we have goes back. Null when others are there to leave it whole.
   */
  *#lookOnceMore(pair: Pair, pages: Pages, isAlone: boolean): Program<Pages | null> {
    if (!isAlone) {
      if (!pair.log.isIntact()) yield* this.#heal(pair, pages, false);
      return null;
    }
    const news = yield* this.#catchUp(pages);
    if (news === null) return pages;
    return news.image === undefined ? overlay(pages, news.delta) : pagesOf(news.image);
  }

  *#loadAll(): Program<LoadedImage & { readonly position: LogPosition }> {
    // A log with nobody there was left by who died, or whose last sync failed.
    const isLeft = !this.#lease!.hasCompany() || this.#lease!.inherited;
    const opened = yield* this.#files.open(this.#strict, isLeft);
    this.#checkpoint.reset();
    const { pageSize } = this.#known;
    if (opened === null) return { pageSize, pageCount: 0, chunks: [], position: this.#known };
    this.#checkpoint.note(opened.logged);
    this.#known = this.#files.pair!.log.position;
    this.#shm.invalidate();
    return { ...opened.image, position: this.#known };
  }

  *#catchUp(pages: Pages): Program<News | null> {
    // It may have changed while the lease was waited for.
    if (this.#files.isCurrent()) return this.#nothingNew();
    this.#files.refuseReplaced();
    const { pair } = this.#files;
    if (pair === null) return yield* this.#reload();
    const { log } = pair;
    if (!log.isIntact()) return yield* this.#heal(pair, pages);
    const scanned = log.readOn();
    this.#lease!.refuseLoss(scanned.position);
    if (scanned.pageCount === null) {
      if (this.#strict) log.refuseHole(this.place);
      // A writer died in the middle: what it wrote is no transaction, and must not be looked at again and again.
      yield* log.wipe({ ...log.position, frames: log.position.frames + 1 });
      return null;
    }
    if (this.#strict) yield* this.#lease!.inherited ? log.rewrite(scanned.position) : log.sync();
    log.follow(scanned);
    this.#known = scanned.position;
    this.#checkpoint.note(scanned.pages.keys());
    return { position: this.#known, delta: toDelta(scanned.pages, scanned.pageCount, log.position) };
  }

  /** Then nothing may be missing either. */
  #nothingNew(): null {
    const log = this.#lease!.held ? this.#files.pair?.log : undefined;
    if (log !== undefined) this.#lease!.refuseLoss(log.position);
    return null;
  }

  *#reload(): Program<News> {
    const { position, ...image } = yield* this.#loadAll();
    return { position, image };
  }

  /** The log is not the one we knew. Null when what is there is all right, and not to be read. */
  *#heal(pair: Pair, pages: Pages, isRead = true): Program<News | null> {
    const found = examine(this.place, pair, this.#files.logPath, pages);
    const { others, whole, start, missing } = found;
    this.#lease!.refuseLoss(found.reached);
    if (found.verdict === "disk") return isRead ? yield* this.#reload() : null;
    const isLogged = (number: number): boolean => this.#checkpoint.isLogged(number) || others.has(number);
    if (!this.#files.mayFold(whole, isLogged, true)) this.#files.refuseReplaced();
    yield* this.#files.replaceLog(start, missing.size === 0 ? null : toDelta(missing, whole.pageCount, start));
    this.#known = this.#files.pair!.log.position;
    this.#checkpoint.reset();
    this.#checkpoint.note(missing.keys());
    this.#shm.invalidate();
    return { position: this.#known, delta: toDelta(others, whole.pageCount, this.#known) };
  }

  *#appendFrames(log: Log, delta: PageDelta): Program<void> {
    // Where the frames will end is not known before they are made; a frame a page is.
    const end = { ...log.position, frames: log.position.frames + delta.pages.size };
    if (log.position.frames === 0) yield* this.#outwaitReaders(log);
    this.#repair.plan(() => log.wipe(end));
    try {
      const position = log.write(delta);
      if (this.#strict) yield* log.sync();
      if (log.isInPlace()) {
        log.advance(position);
        this.#checkpoint.note(delta.pages.keys());
      } else yield* this.#commitElsewhere();
      this.#repair.cancel();
    } catch (error) {
      yield* this.#repair.attempt();
      throw error;
    }
  }

  /** The log was taken away while we wrote. Who did it may have moved ours into the base too (L1), and may not (L2, L5). */
  *#commitElsewhere(): Program<void> {
    this.#files.refuseReplaced();
    try {
      yield* this.#heal(this.#files.pair!, this.#pages!, false);
    } catch (error) {
      if (systemCode(error) === null) throw error;
      // Not to be wiped then: it counts, and who looks next puts it where it belongs.
      this.#repair.cancel();
      throw new FlushFailed(this.place, error, "unknown");
    }
  }

  /** The frames of the log before are about to be written over: who reads them must be done first. */
  *#outwaitReaders(log: Log): Program<void> {
    const isFree = yield* this.#shm.outwaitLogReaders(this.#busyTimeoutMs);
    if (!isFree) throw new StoreBusy(this.place, this.#busyTimeoutMs, "a program that reads it");
    log.shrink();
  }

  *#advanceCheckpoint({ base, log }: Pair, pages: Pages, everything = !this.#strict): Program<void> {
    try {
      // A stock reader has no way to tell us what it still needs, but Linux tells that there is one.
      if (this.#shm.hasReaders()) return;
      // The base may not run ahead of the log: half of a checkpoint needs all of the log over it. Relaxed, the log may
      // reach the disk later than the base would; so it is made durable first, and then all is copied at once.
      if (!this.#strict) yield* log.settle();
      if (!this.#files.mayFold(pages, (number) => this.#checkpoint.isLogged(number), everything)) return;
      if (!(yield* this.#checkpoint.advance(base, pages, everything))) return;
      // Once more: one may have come while the base was synced.
      if (this.#shm.hasReaders()) return;
    } catch {
      return; // kept for the next try; the log still has everything
    }
    const start = log.successor();
    this.#repair.plan(() => this.#checkpoint.finish(log, start, pages));
    yield* this.#repair.attempt();
    this.#shm.invalidate();
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
    if (!this.#repair.isDue) this.#lease!.release(this.#files.pair?.log.position);
  }
}
