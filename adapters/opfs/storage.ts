// What the port asks for, over a database file and its log that nobody else has open; written as programs. Order is
// everything here; comments say which law a line keeps.
import { Fenced, FlushFailed, PerdureError } from "../../src/errors.ts";
import { type LoadedImage, type PageDelta, type Pages, pagesOf, type Problem } from "../../src/port.ts";
import { Base } from "../wal/base.ts";
import { Checkpoint } from "../wal/checkpoint.ts";
import { headerOf, Log, randomSalt } from "../wal/log.ts";
import type { Program } from "../wal/program.ts";
import type { RandomAccessFile } from "../wal/random-access-file.ts";
import { Repair } from "../wal/repair.ts";
import { verifyStored } from "../wal/verify.ts";
import { type LogPosition, startLog, writeHeader } from "../wal/wal.ts";
import { type Fence, replaced } from "./fence.ts";
import type { Opened } from "./opening.ts";
import type { OpfsOptions } from "./options.ts";
import { Tail } from "./tail.ts";

const DEFAULT_PAGE_SIZE = 4096;
/** Nobody can take a file away while its handle is open. */
const IN_PLACE = (): boolean => true;

export class OpfsStorage {
  readonly #place: string;
  readonly #strict: boolean;
  readonly #baseFile: RandomAccessFile;
  readonly #logFile: RandomAccessFile;
  readonly #checkpoint: Checkpoint;
  /** Null before the first commit. */
  #base: Base | null = null;
  /** Null as long as the log has no header. */
  #log: Log | null = null;
  /** What the store holds as its position. The log's own one may be newer: a checkpoint starts it over. */
  #known: LogPosition = startLog(DEFAULT_PAGE_SIZE, 0, 0, 0);
  /** Until the store has loaded it. */
  #image: LoadedImage | null = null;
  readonly #repair: Repair;
  readonly #tail: Tail;
  readonly #fence: Fence;
  /** Whether the log was there before, and may stay. */
  readonly #isLogFound: boolean;

  constructor(place: string, options: OpfsOptions, { base, log, madeLog, fence }: Opened) {
    this.#place = place;
    this.#strict = options.durability !== "relaxed";
    this.#baseFile = base;
    this.#logFile = log;
    this.#tail = new Tail(log);
    this.#fence = fence;
    this.#isLogFound = !madeLog;
    this.#repair = new Repair(place);
    this.#checkpoint = new Checkpoint(options.checkpointFrames ?? null);
  }

  /** Takes over what was found. */
  *start({ found }: Opened): Program<void> {
    if (found === null) return;
    const { image, scanned, isFileLost } = found;
    this.#image = image;
    this.#base = new Base(this.#place, this.#baseFile, image.pageSize, IN_PLACE);
    if (scanned === null || scanned.position.pageSize !== image.pageSize) return;
    this.#log = new Log(this.#logFile, scanned.position, IN_PLACE, true);
    this.#tail.note(scanned.position);
    // Relaxed, a power cut may leave one, and what is behind it was never promised.
    if (this.#strict) this.#log.refuseHole(this.#place);
    this.#known = scanned.position;
    this.#checkpoint.note(scanned.pages.keys());
    // Its writer may have died before its flush, or its flush failed; from now on it can be seen (L2, L3), and what is
    // committed stands behind its header.
    if (this.#strict) yield* this.#log.settle();
    if (scanned.pageCount === null) return;
    // The first commit, cut short between log and file: only with the file can stock SQLite see it (L5).
    if (isFileLost) yield* this.#fillBase(pagesOf(image));
  }

  load(): LoadedImage & { readonly position: LogPosition } {
    const image = this.#image ?? { pageSize: DEFAULT_PAGE_SIZE, pageCount: 0, chunks: [] };
    this.#image = null;
    return { ...image, position: this.#known };
  }

  /** Nothing is ever new: who finds that another one has written is over. */
  pull(since: LogPosition): null {
    if (since !== this.#known) throw new Fenced(this.#place);
    this.#fence.demand();
    return null;
  }

  *lock(): Program<() => void> {
    yield* this.#repair.run();
    return () => {};
  }

  *append(delta: PageDelta, after: LogPosition): Program<LogPosition> {
    // One lease may serve several appends.
    yield* this.#repair.run();
    if (after !== this.#known) throw new Fenced(this.#place);
    try {
      if (!this.#tail.isOurs(this.#log)) throw replaced(this.#place);
      yield* this.#base === null ? this.#create(delta) : this.#appendFrames(delta);
    } catch (error) {
      yield* this.#repair.attempt();
      throw error instanceof PerdureError ? error : new FlushFailed(this.#place, error);
    }
    return this.#known;
  }

  *checkpoint(pages: Pages): Program<void> {
    const log = this.#log;
    if (log === null || this.#repair.isDue || !this.#checkpoint.isDue(log.position, pages)) return;
    if (!(yield* this.#fold(log, pages, !this.#strict))) return;
    const start = log.successor();
    this.#repair.plan(() => this.#startOver(log, start, pages));
    yield* this.#repair.attempt();
    if (!this.#repair.isDue) giveBack(() => log.shrink());
  }

  /**
   * Leaves a file that is complete by itself and an emptied log, and says whether that may be removed; of a place that was
   * refused (`pages` is null), what was found. What fails here was durable before; who opens it next goes on from there.
   */
  *leave(pages: Pages | null): Program<boolean> {
    try {
      yield* this.#repair.run();
      const log = this.#log;
      const isEmpty = log === null || log.position.frames === 0;
      if (pages === null && (this.#isLogFound || !isEmpty)) {
        this.#fence.withdraw();
        return false;
      }
      if (pages !== null && !isEmpty && !(yield* this.#fold(log, pages, true))) return false;
      this.#log = null;
      this.#logFile.truncate(0);
      return true;
    } catch {
      return false;
    }
  }

  /** What differs between the files and memory. */
  verify(pages: Pages): Problem[] {
    return this.#base === null || this.#log === null ? [] : verifyStored(this.#base, this.#log, pages);
  }

  /** What our handle finds as the log's header, null as long as it has none. */
  logHeader(): LogPosition | null {
    return this.#log === null ? null : headerOf(this.#logFile);
  }

  *#appendFrames(delta: PageDelta): Program<void> {
    const log = yield* this.#openLog(delta.pageSize);
    // Where the frames will end is not known before they are made; a frame a page is.
    const end = { ...log.position, frames: log.position.frames + delta.pages.size };
    this.#repair.plan(() => this.#wipe(log, end));
    const position = log.write(delta);
    if (this.#strict) yield* log.sync();
    this.#tail.note(position);
    log.advance(position);
    this.#known = position;
    this.#repair.cancel();
    this.#checkpoint.note(delta.pages.keys());
  }

  *#startOver(log: Log, start: LogPosition, pages: Pages): Program<void> {
    this.#tail.note(start);
    yield* this.#checkpoint.finish(log, start, pages);
  }

  *#wipe(log: Log, end: LogPosition): Program<void> {
    yield* log.wipe(end);
    this.#tail.note(log.position);
  }

  /**
   * The first commit: whole in the log before any of it is in the file, so that half of it can be told from a damaged
   * file; and in the file before it is acknowledged, because SQLite throws away the log of an empty file (L5). Flushed even
   * when relaxed: a power cut may take commits, but not leave what nobody can open.
   */
  *#create(delta: PageDelta): Program<void> {
    const undo = (): Program<void> => this.#undoCreate();
    this.#repair.plan(undo);
    if (this.#log?.position.pageSize !== delta.pageSize) this.#log = null;
    const log = yield* this.#openLog(delta.pageSize, undo);
    const position = log.write(delta);
    this.#tail.note(position);
    yield* log.sync();
    const base = new Base(this.#place, this.#baseFile, delta.pageSize, IN_PLACE);
    this.#base = base;
    yield* this.#fillBase({ ...delta, page: (number) => delta.pages.get(number)! });
    log.advance(position);
    this.#known = position;
    this.#repair.cancel();
  }

  /** The file first: half of it without the log would be refused for ever. */
  *#undoCreate(): Program<void> {
    this.#base = null;
    this.#baseFile.truncate(0);
    yield { kind: "sync", file: this.#baseFile };
    yield* this.#emptyLog();
  }

  /** Every page, page 1 last. */
  *#fillBase(pages: Pages): Program<void> {
    const base = this.#base!;
    base.write(
      Array.from({ length: pages.pageCount - 1 }, (_, i) => i + 2),
      pages,
    );
    base.write([1], pages);
    base.trim(pages);
    yield* base.sync();
  }

  /** The log, with a header: durable before any frame, because frames behind a header of zeros are taken for a loss. */
  *#openLog(pageSize: number, repair = () => this.#emptyLog()): Program<Log> {
    if (this.#log !== null) return this.#log;
    const start = startLog(pageSize, 0, randomSalt(), randomSalt());
    // Half a header would be taken for something else than a log.
    this.#repair.plan(repair);
    this.#logFile.write(writeHeader(start), 0);
    yield { kind: "sync", file: this.#logFile };
    this.#log = new Log(this.#logFile, start, IN_PLACE, false);
    this.#tail.note(start);
    return this.#log;
  }

  *#emptyLog(): Program<void> {
    this.#log = null;
    this.#logFile.truncate(0);
    yield { kind: "sync", file: this.#logFile };
  }

  /** Copies from the log into the file; true when the file has everything and is durable. */
  *#fold(log: Log, pages: Pages, everything: boolean): Program<boolean> {
    try {
      if (!this.#tail.isOurs(this.#log)) return false;
      // The file may not run ahead of the log: half of a checkpoint needs all of the log over it. Relaxed, the log may reach
      // the disk later than the file would; so it is made durable first, and then all is copied at once.
      if (!this.#strict) yield* log.settle();
      return (yield* this.#checkpoint.advance(this.#base!, pages, everything)) && this.#tail.isOurs(this.#log);
    } catch {
      return false; // kept for the next try; the log still has everything
    }
  }
}

/** Only room: it may stay. */
function giveBack(work: () => void): void {
  try {
    work();
  } catch {
    // Said above.
  }
}
