// What a log holds behind the place where its checksums break. SQLite takes such a log to end there. Most often it is
// right: a transaction was being written when the power went. But frames that were acknowledged may lie behind damage.
// Reads only.
import { ImageCorrupt } from "../../src/errors.ts";
import { type ReadableFile, readPart } from "./random-access-file.ts";
import {
  continuesLog,
  endOf,
  frameBytes,
  FRAME_HEADER_BYTES,
  frameSums,
  type LogPosition,
  markAsRollback,
} from "./wal.ts";

/** Frames that are no frames of this log, one after another, before it is over for good. */
const LOOK_AHEAD = 64;

/** A frame, as far as it can be told. */
interface Frame {
  /** From 1. */
  readonly number: number;
  /** The page it holds, or null when not even that can be told. */
  readonly page: number | null;
  /** Its bytes, or null when they fail the checksum. */
  readonly bytes: Uint8Array | null;
  /** Pages in the database, in the last frame of a transaction; else 0. */
  readonly pageCount: number;
}

/** Frames up to one that ends a transaction. */
export interface BrokenTransaction {
  readonly frames: readonly Frame[];
  readonly isWhole: boolean;
}

/** The transactions behind `position`, whole or not; the last one may have no end. */
export function* transactionsBehind(file: ReadableFile, position: LogPosition): Generator<BrokenTransaction> {
  let frames: Frame[] = [];
  for (const frame of framesBehind(file, position)) {
    frames.push(frame);
    if (frame.pageCount === 0) continue;
    yield { frames, isWhole: frames.every(({ bytes }) => bytes !== null) };
    frames = [];
  }
  if (frames.length > 0) yield { frames, isWhole: false };
}

/**
 * Refuses a log with damage in its middle: what is whole behind it was acknowledged, and SQLite would not see it. Who
 * syncs every transaction before the next one leaves no such log, whatever happens to the power. `position` is where
 * the log ends for SQLite.
 */
export function refuseHole(place: string, file: ReadableFile, position: LogPosition): void {
  let hole: Frame | null = null;
  for (const { frames, isWhole } of transactionsBehind(file, position)) {
    if (hole !== null && isWhole) {
      const where = {
        part: "log",
        frame: hole.number,
        offset: endOf({ ...position, frames: hole.number - 1 }),
      } as const;
      throw new ImageCorrupt(place, "a frame of its log fails the checksum, and transactions behind it are whole", {
        where,
      });
    }
    hole ??= frames.find(({ bytes }) => bytes === null) ?? null;
  }
}

function* framesBehind(file: ReadableFile, position: LogPosition): Generator<Frame> {
  const { pageSize, swapped } = position;
  const stride = frameBytes(pageSize);
  let sums: Int32Array | null = Int32Array.of(position.sum1, position.sum2);
  let unknown: Frame[] = [];
  for (let { frames } = position; unknown.length < LOOK_AHEAD; frames++) {
    const number = frames + 1;
    const at = endOf({ ...position, frames });
    const header = readPart(file, at, FRAME_HEADER_BYTES);
    if (header.length < FRAME_HEADER_BYTES) return;
    if (!continuesLog(header, position)) {
      unknown.push({ number, page: null, bytes: null, pageCount: 0 });
      sums = null;
      continue;
    }
    const frame = readPart(file, at, stride);
    if (frame.length < stride) return;
    yield* unknown;
    unknown = [];
    const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
    const expected: Int32Array | null = sums === null ? null : frameSums(frame, sums, swapped);
    sums = Int32Array.of(view.getInt32(16), view.getInt32(20));
    const isSound = expected !== null && expected[0] === sums[0] && expected[1] === sums[1];
    const page = view.getUint32(0);
    const bytes = frame.subarray(FRAME_HEADER_BYTES);
    if (page === 1) markAsRollback(bytes);
    yield { number, page, bytes: isSound ? bytes : null, pageCount: view.getUint32(4) };
  }
}
