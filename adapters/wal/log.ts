// One log in SQLite's format: appended to, restarted in place, and put right after a write that failed. Everything here
// needs the lease, except `isCurrent`. Knows nothing of the base, and nothing of where its file comes from.
import type { PageDelta } from "../../src/port.ts";
import { refuseHole } from "./broken-log.ts";
import { samePage } from "./pages.ts";
import type { Program } from "./program.ts";
import { type RandomAccessFile, type ReadableFile, readPart } from "./random-access-file.ts";
import {
  continuesLog,
  endOf,
  endsLog,
  frameBytes,
  FRAME_HEADER_BYTES,
  FrameWriter,
  type LogPosition,
  markAsRollback,
  readHeader,
  scan,
  type Scanned,
  startLog,
  WAL_HEADER_BYTES,
  writeHeader,
} from "./wal.ts";

/** Space is taken ahead in steps: writing into space that is there already costs half as much to make durable. */
const FIRST_STEP_BYTES = 64 * 1024;
const LARGEST_STEP_BYTES = 1024 * 1024;

/** The start of the log in a file, or null when SQLite would take it for empty. */
export function headerOf(file: ReadableFile): LogPosition | null {
  return readHeader(readPart(file, 0, WAL_HEADER_BYTES));
}

/** What a file holds as a log, or null when SQLite would take it for empty. */
export function scanLog(file: ReadableFile): Scanned | null {
  const start = headerOf(file);
  return start === null ? null : scan(start, (at, bytes) => readPart(file, at, bytes));
}

/** Whether there are bytes that are not a log's: neither empty space nor a header that SQLite would take. */
export function isSomethingElse(file: ReadableFile): boolean {
  // The first frame's header too: nobody leaves frames behind a header of zeros.
  const start = readPart(file, 0, WAL_HEADER_BYTES + FRAME_HEADER_BYTES);
  return readHeader(start.subarray(0, WAL_HEADER_BYTES)) === null && start.some((byte) => byte !== 0);
}

export class Log {
  readonly #file: RandomAccessFile;
  readonly #isInPlace: () => boolean;
  readonly #writer: FrameWriter = new FrameWriter();
  readonly #probe: Uint8Array = new Uint8Array(WAL_HEADER_BYTES);
  readonly #probeView: DataView = new DataView(this.#probe.buffer);
  /** For our last frame and the header of one behind it. */
  readonly #last: Uint8Array;
  /** Frames → checksum, where we know a transaction of this log to have ended. */
  readonly #ends: Map<number, number> = new Map();
  #allocated: number;
  /** Bytes that a log keeps when it starts over. */
  #keepBytes = Infinity;
  /** Some of it may have been in a sync that failed: ours, or one of who wrote it before. */
  #isInDoubt: boolean;
  #position: LogPosition;

  /**
   * @param isInPlace whether who opens the place now would find this very file
   * @param isFound whether somebody else wrote what is in it, if only its header: a sync of that may have failed
   */
  constructor(file: RandomAccessFile, position: LogPosition, isInPlace: () => boolean, isFound: boolean) {
    this.#file = file;
    this.#isInPlace = isInPlace;
    this.#allocated = file.size();
    this.#last = new Uint8Array(frameBytes(position.pageSize) + FRAME_HEADER_BYTES);
    this.#position = position;
    this.#ends.set(position.frames, position.sum1);
    this.#isInDoubt = isFound;
  }

  get position(): LogPosition {
    return this.#position;
  }

  /** Whether who opens the place now would find this very file. */
  isInPlace(): boolean {
    return this.#isInPlace();
  }

  /** Whether the log is the one we know: not restarted, truncated or written over. */
  isSameLog(): boolean {
    const { pageSize, sequence, salt1, salt2 } = this.#position;
    if (this.#read(0, WAL_HEADER_BYTES).length < WAL_HEADER_BYTES) return false;
    const view = this.#probeView;
    return (
      view.getUint32(16) === salt1 &&
      view.getUint32(20) === salt2 &&
      view.getUint32(12) === sequence &&
      view.getUint32(8) === pageSize
    );
  }

  /** Whether our last frame is still there, not cut off or written over. Tells nothing of the frames before it. */
  isWhole(): boolean {
    return this.#isWholeIn(this.#readLast());
  }

  /** Whether it is ours up to our end, as far as header and last frame tell. */
  isIntact(): boolean {
    return this.isInPlace() && this.isSameLog() && this.isWhole();
  }

  isCurrent(): boolean {
    return this.isInPlace() && this.isUnchanged();
  }

  /** Whether it is as we left it, as far as header and last frame tell, and nobody wrote even half a transaction behind. */
  isUnchanged(): boolean {
    if (!this.isSameLog()) return false;
    // Read at once: this is asked before everything that a store does.
    const last = this.#readLast();
    if (!this.#isWholeIn(last)) return false;
    const { frames, pageSize } = this.#position;
    return !continuesLog(last.subarray(frames === 0 ? 0 : frameBytes(pageSize)), this.#position);
  }

  /** Refuses damage in front of what was acknowledged; ask it where the log ends. Throws `ImageCorrupt`. */
  refuseHole(place: string): void {
    refuseHole(place, this.#file, this.#position);
  }

  /** All of it once more, or null when its header is none. */
  rescan(): Scanned | null {
    return scanLog(this.#file);
  }

  /** Whole transactions behind our end. */
  readOn(): Scanned {
    return scan(this.#position, (at, bytes) => readPart(this.#file, at, bytes));
  }

  /** Whether one of our frames holds this very page. Looks at all of them. */
  hasFrame(number: number, bytes: Uint8Array): boolean {
    for (let frames = 0; frames < this.#position.frames; frames++) {
      const at = endOf({ ...this.#position, frames });
      if (this.#read(at, FRAME_HEADER_BYTES).length < FRAME_HEADER_BYTES) return false;
      if (this.#probeView.getUint32(0) !== number) continue;
      const page = readPart(this.#file, at + FRAME_HEADER_BYTES, bytes.length);
      if (number === 1) markAsRollback(page);
      if (samePage(page, bytes)) return true;
    }
    return false;
  }

  /** Whether this log, which went up to `end`, held exactly what `other` holds when it ended there. */
  isPrefix(other: LogPosition, end: LogPosition): boolean {
    if (other.salt1 !== end.salt1 || other.salt2 !== end.salt2) return false;
    if (other.frames === end.frames) return other.sum1 === end.sum1;
    if (other.frames > end.frames || other.frames === 0) return other.frames === 0;
    // Written over in place, only memory can tell: another one may have gone on from where it was cut.
    if (this.isInPlace()) return this.#ends.get(other.frames) === other.sum1;
    return endsLog(this.#read(endOf({ ...other, frames: other.frames - 1 }), FRAME_HEADER_BYTES), other);
  }

  /** Our own transaction is in it. */
  advance(position: LogPosition): void {
    this.#position = position;
    this.#ends.set(position.frames, position.sum1);
  }

  /** Where transactions of others ended, in front of our end. */
  noteEnds(ends: Scanned["ends"]): void {
    for (const [frames, sum] of ends) this.#ends.set(frames, sum);
  }

  /** Goes on from what `readOn` found of others. */
  follow({ position, ends }: Scanned): void {
    this.noteEnds(ends);
    this.advance(position);
    this.#isInDoubt = true;
  }

  /** Wipes what was written behind our end: a transaction that failed must not be found by anybody. */
  *wipe(end: LogPosition): Program<void> {
    const from = endOf(this.#position);
    const to = Math.min(endOf(end), this.#file.size());
    if (to > from) this.#file.write(new Uint8Array(to - from), from);
    yield* this.sync();
  }

  /**
   * Writes the frames from here to `end` once more and makes them durable. After a failed sync the system may have
   * marked pages clean that never reached the disk, so syncing alone would prove nothing.
   */
  *rewrite(end: LogPosition): Program<void> {
    const from = endOf(this.#position);
    this.#file.write(readPart(this.#file, from, endOf(end) - from), from);
    yield* this.sync();
  }

  /** The same for everything up to our end. */
  *rewriteAll(): Program<void> {
    const end = endOf(this.#position);
    for (let at = 0; at < end; at += LARGEST_STEP_BYTES) {
      this.#file.write(readPart(this.#file, at, Math.min(LARGEST_STEP_BYTES, end - at)), at);
    }
    yield* this.sync();
    this.#isInDoubt = false;
  }

  *sync(): Program<void> {
    try {
      yield { kind: "sync", file: this.#file };
    } catch (error) {
      this.#isInDoubt = true;
      throw error;
    }
  }

  /** Makes everything up to our end durable, where nobody synced each transaction: before the base may run ahead of it. */
  *settle(): Program<void> {
    if (this.#isInDoubt) yield* this.rewriteAll();
    else yield* this.sync();
  }

  /** Where the log would start over. Its first salt counts up, so that others know it for a successor (as SQLite does). */
  successor(): LogPosition {
    const { pageSize, sequence, salt1 } = this.#position;
    return startLog(pageSize, (sequence + 1) >>> 0, (salt1 + 1) >>> 0, randomSalt());
  }

  /**
   * Starts over in place. The header is durable before any frame is written: mixed up by a power cut, an old header
   * with old frames would put old pages over a newer base.
   */
  *restart(start: LogPosition, keepBytes: number): Program<void> {
    this.#position = start;
    this.#ends.clear();
    this.#file.write(writeHeader(start), 0);
    this.#keepBytes = keepBytes;
    yield* this.sync();
  }

  /** Gives back what the log before needed beyond the usual: not before its last reader is gone. */
  shrink(): void {
    if (this.#allocated <= this.#keepBytes) return;
    this.#file.truncate(this.#keepBytes);
    this.#allocated = this.#keepBytes;
  }

  close(): void {
    this.#file.close();
  }

  /** Writes a transaction behind the end, not yet durable, and returns where it will end. */
  write(delta: PageDelta): LogPosition {
    const { bytes, position } = this.#writer.write(delta, this.#position);
    this.#file.write(bytes, endOf(this.#position));
    this.#reserve(endOf(position));
    return position;
  }

  #reserve(end: number): void {
    if (end <= this.#allocated) return;
    const step = Math.min(Math.max(this.#allocated, FIRST_STEP_BYTES), LARGEST_STEP_BYTES);
    this.#allocated = Math.ceil(end / step) * step;
    try {
      this.#file.write(new Uint8Array(this.#allocated - end), end);
    } catch {
      // Only room for later: a disk too full for it may still hold the transaction, and its sync will tell.
      this.#allocated = this.#file.size();
    }
  }

  /** Our last frame, if there is one, and the header of a next one. */
  #readLast(): Uint8Array {
    const stride = this.#position.frames === 0 ? 0 : frameBytes(this.#position.pageSize);
    const target = this.#last.subarray(0, stride + FRAME_HEADER_BYTES);
    return target.subarray(0, this.#file.read(target, endOf(this.#position) - stride));
  }

  #isWholeIn(last: Uint8Array): boolean {
    const { frames, pageSize } = this.#position;
    if (frames === 0) return true;
    return last.length >= frameBytes(pageSize) && endsLog(last.subarray(0, FRAME_HEADER_BYTES), this.#position);
  }

  #read(at: number, bytes: number): Uint8Array {
    const target = this.#probe.subarray(0, bytes);
    return target.subarray(0, this.#file.read(target, at));
  }
}

export function randomSalt(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]!;
}
