// SQLite's write-ahead log format (https://sqlite.org/fileformat2.html#walformat): headers, checksums, frames. Bytes in,
// bytes out; no files. So any SQLite reads what is written here, and what any SQLite wrote is read as SQLite reads it.
import type { PageDelta, Position } from "../../src/port.ts";

export const WAL_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
const FORMAT_VERSION = 3007000;
const LARGEST_READ_BYTES = 1024 * 1024;
/** The last bit says in which byte order checksums were taken; SQLite takes them in the machine's own. */
const MAGIC = 0x377f0682;
const HOST_IS_BIG_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 0;
/** Bytes 18 and 19 of page 1: the file's format when written and read. 2 is WAL, 1 is a rollback journal. */
const FORMAT_AT = 18;
const FORMAT_WAL = 2;
const FORMAT_ROLLBACK = 1;

/** A place in a log: how many frames are valid, and the running checksum after them. */
export interface LogPosition extends Position {
  readonly adapter: "wal";
  readonly pageSize: number;
  readonly sequence: number;
  readonly salt1: number;
  readonly salt2: number;
  /** Checksums were taken in the other byte order: the log comes from another kind of machine. */
  readonly swapped: boolean;
  readonly frames: number;
  readonly sum1: number;
  readonly sum2: number;
}

/** Bytes a frame takes. */
export function frameBytes(pageSize: number): number {
  return FRAME_HEADER_BYTES + pageSize;
}

/** Where in the log the frame after `position` starts. */
export function endOf({ frames, pageSize }: LogPosition): number {
  return WAL_HEADER_BYTES + frames * frameBytes(pageSize);
}

/** The start of a log that nothing was appended to yet. */
export function startLog(pageSize: number, sequence: number, salt1: number, salt2: number): LogPosition {
  const base = { adapter: "wal", pageSize, sequence, salt1, salt2, swapped: false, frames: 0 } as const;
  const header = writeHeader({ ...base, sum1: 0, sum2: 0 });
  const view = viewOf(header);
  return { ...base, sum1: view.getInt32(24), sum2: view.getInt32(28) };
}

/** The 32 bytes a log starts with. */
export function writeHeader({ pageSize, sequence, salt1, salt2 }: LogPosition): Uint8Array {
  const header = new Uint8Array(WAL_HEADER_BYTES);
  const view = viewOf(header);
  view.setUint32(0, MAGIC + (HOST_IS_BIG_ENDIAN ? 1 : 0));
  view.setUint32(4, FORMAT_VERSION);
  view.setUint32(8, pageSize);
  view.setUint32(12, sequence);
  view.setUint32(16, salt1);
  view.setUint32(20, salt2);
  const sums = Int32Array.of(0, 0);
  addChecksum(sums, wordsOf(header), 0, 6, false);
  view.setInt32(24, sums[0]!);
  view.setInt32(28, sums[1]!);
  return header;
}

/** The start of the log that these 32 bytes announce, or null: then SQLite takes the log for empty. */
export function readHeader(header: Uint8Array): LogPosition | null {
  if (header.length < WAL_HEADER_BYTES) return null;
  const view = viewOf(header);
  const magic = view.getUint32(0);
  const pageSize = view.getUint32(8);
  if ((magic & ~1) >>> 0 !== MAGIC || view.getUint32(4) !== FORMAT_VERSION) return null;
  if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0) return null;
  const swapped = ((magic & 1) === 1) !== HOST_IS_BIG_ENDIAN;
  const sums = Int32Array.of(0, 0);
  addChecksum(sums, wordsOf(header.slice(0, WAL_HEADER_BYTES)), 0, 6, swapped);
  if (sums[0] !== view.getInt32(24) || sums[1] !== view.getInt32(28)) return null;
  return {
    adapter: "wal",
    pageSize,
    sequence: view.getUint32(12),
    salt1: view.getUint32(16),
    salt2: view.getUint32(20),
    swapped,
    frames: 0,
    sum1: sums[0],
    sum2: sums[1],
  };
}

/** Whether a frame's header carries this log's salts: somebody wrote after `position`, though maybe not to the end. */
export function continuesLog(frameHeader: Uint8Array, { salt1, salt2 }: LogPosition): boolean {
  if (frameHeader.length < FRAME_HEADER_BYTES) return false;
  const view = viewOf(frameHeader);
  return view.getUint32(0) !== 0 && view.getUint32(8) === salt1 && view.getUint32(12) === salt2;
}

/** Whether a frame's header is that of the last frame in front of `position`. */
export function endsLog(frameHeader: Uint8Array, { salt1, salt2, sum1, sum2 }: LogPosition): boolean {
  if (frameHeader.length < FRAME_HEADER_BYTES) return false;
  const view = viewOf(frameHeader);
  const isOfLog = view.getUint32(8) === salt1 && view.getUint32(12) === salt2;
  return isOfLog && view.getInt32(16) === sum1 && view.getInt32(20) === sum2;
}

/** The frames of one transaction, in a buffer that is used again by the next call, and the position after them. */
export class FrameWriter {
  #buffer: Uint8Array = new Uint8Array(0);

  write({ pages, pageCount }: PageDelta, after: LogPosition): { bytes: Uint8Array; position: LogPosition } {
    const stride = frameBytes(after.pageSize);
    const length = pages.size * stride;
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(length * 2);
    const bytes = this.#buffer.subarray(0, length);
    const view = viewOf(bytes);
    const words = wordsOf(bytes);
    const sums = Int32Array.of(after.sum1, after.sum2);
    let at = 0;
    let left = pages.size;
    for (const [number, page] of pages) {
      left--;
      view.setUint32(at, number);
      view.setUint32(at + 4, left === 0 ? pageCount : 0);
      view.setUint32(at + 8, after.salt1);
      view.setUint32(at + 12, after.salt2);
      bytes.set(page, at + FRAME_HEADER_BYTES);
      if (number === 1) markAsWal(bytes.subarray(at + FRAME_HEADER_BYTES));
      addChecksum(sums, words, at / 4, 2, after.swapped);
      addChecksum(sums, words, (at + FRAME_HEADER_BYTES) / 4, after.pageSize / 4, after.swapped);
      view.setInt32(at + 16, sums[0]!);
      view.setInt32(at + 20, sums[1]!);
      at += stride;
    }
    return {
      bytes,
      position: { ...after, frames: after.frames + pages.size, sum1: sums[0]!, sum2: sums[1]! },
    };
  }
}

/** What a stretch of log holds that was committed. */
export interface Scanned {
  /** After the last frame of a whole transaction. */
  readonly position: LogPosition;
  /** Page number → its last committed bytes, as the engine wants them. */
  readonly pages: Map<number, Uint8Array>;
  /** Pages in the database after it, or null when nothing was committed. */
  readonly pageCount: number | null;
  /** Frames → checksum, for each of the transactions where it ended. */
  readonly ends: ReadonlyMap<number, number>;
}

/**
 * Reads on from `position`: frames count while salts and running checksum agree, transactions count when their last
 * frame does. `read` gives the bytes from an offset, fewer at the end of the file.
 */
export function scan(position: LogPosition, read: (at: number, bytes: number) => Uint8Array): Scanned {
  const { pageSize, swapped } = position;
  const stride = frameBytes(pageSize);
  // Little at first: most often one transaction is new, and the space reserved behind it is not worth reading.
  let framesAtATime = 16;
  const mostFrames = Math.max(framesAtATime, Math.floor(LARGEST_READ_BYTES / stride));
  const pages = new Map<number, Uint8Array>();
  const pending = new Map<number, Uint8Array>();
  const ends = new Map<number, number>();
  const sums = Int32Array.of(position.sum1, position.sum2);
  let committed = position;
  let pageCount: number | null = null;
  let frames = position.frames;
  for (;;) {
    const bytes = read(WAL_HEADER_BYTES + frames * stride, framesAtATime * stride);
    const whole = Math.floor(bytes.length / stride);
    const words = wordsOf(bytes);
    const view = viewOf(bytes);
    for (let i = 0; i < whole; i++) {
      const at = i * stride;
      const header = bytes.subarray(at, at + FRAME_HEADER_BYTES);
      if (!continuesLog(header, position)) return { position: committed, pages, pageCount, ends };
      addChecksum(sums, words, at / 4, 2, swapped);
      addChecksum(sums, words, (at + FRAME_HEADER_BYTES) / 4, pageSize / 4, swapped);
      if (view.getInt32(at + 16) !== sums[0] || view.getInt32(at + 20) !== sums[1]) {
        return { position: committed, pages, pageCount, ends };
      }
      frames++;
      const number = view.getUint32(at);
      const page = bytes.subarray(at + FRAME_HEADER_BYTES, at + stride);
      if (number === 1) markAsRollback(page);
      pending.set(number, page);
      const size = view.getUint32(at + 4);
      if (size === 0) continue;
      for (const [n, held] of pending) pages.set(n, held);
      pending.clear();
      pageCount = size;
      committed = { ...position, frames, sum1: sums[0], sum2: sums[1] };
      ends.set(frames, sums[0]);
    }
    if (whole < framesAtATime) return { position: committed, pages, pageCount, ends };
    framesAtATime = Math.min(framesAtATime * 4, mostFrames);
  }
}

/** The checksum that belongs in a frame's header, after the one of the frame before. `frame` has memory of its own. */
export function frameSums(frame: Uint8Array, before: Int32Array, swapped: boolean): Int32Array {
  const sums = before.slice();
  const words = wordsOf(frame);
  addChecksum(sums, words, 0, 2, swapped);
  addChecksum(sums, words, FRAME_HEADER_BYTES / 4, (frame.length - FRAME_HEADER_BYTES) / 4, swapped);
  return sums;
}

/** On disk the header says WAL. */
export function markAsWal(page1: Uint8Array): void {
  page1.fill(FORMAT_WAL, FORMAT_AT, FORMAT_AT + 2);
}

/** In memory it says rollback journal, or SQLite would look for a log of its own. */
export function markAsRollback(page1: Uint8Array): void {
  page1.fill(FORMAT_ROLLBACK, FORMAT_AT, FORMAT_AT + 2);
}

/** SQLite's checksum: two sums that feed each other, over pairs of 32-bit words, wrapping. */
function addChecksum(sums: Int32Array, words: Int32Array, from: number, count: number, swapped: boolean): void {
  let s1 = sums[0]!;
  let s2 = sums[1]!;
  const to = from + count;
  if (swapped) {
    for (let i = from; i < to; i += 2) {
      s1 = (s1 + swap(words[i]!) + s2) | 0;
      s2 = (s2 + swap(words[i + 1]!) + s1) | 0;
    }
  } else {
    for (let i = from; i < to; i += 2) {
      s1 = (s1 + words[i]! + s2) | 0;
      s2 = (s2 + words[i + 1]! + s1) | 0;
    }
  }
  sums[0] = s1;
  sums[1] = s2;
}

function swap(word: number): number {
  return ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >> 8) & 0xff00) | (word >>> 24);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
}
