// Which log comes after which, told by their salts alone. Positions in, answers out; no files.
import { type LogPosition, startLog } from "./wal.ts";

/** A log of ours counts its first salt up by one each time; a stranger's is random, and this near one time in 65,536. */
const MAX_SUCCESSORS = 0xffff;
/** Out of reach of those, from both sides. */
const REPLACEMENT_STEP = 0x40000000;

/** How far somebody had got: enough to tell who was further. */
export type Reached = Pick<LogPosition, "salt1" | "frames">;

/** Whether `position` certainly lacks some of what there was when somebody had got as far as `reached`. */
export function isBehind(position: Reached, reached: Reached): boolean {
  return position.salt1 === reached.salt1 ? position.frames < reached.frames : isSuccessor(reached, position);
}

/** Whether who had got as far as `known` certainly had all that there was at `reached`. */
export function covers(known: Reached, reached: Reached): boolean {
  return known.salt1 === reached.salt1 ? known.frames >= reached.frames : isSuccessor(known, reached);
}

/** Whether `found` is the log `known` started over, once or several times. */
export function isSuccessor(found: Reached, known: Reached): boolean {
  const steps = (found.salt1 - known.salt1) >>> 0;
  return steps >= 1 && steps <= MAX_SUCCESSORS;
}

/**
 * The start of a log in place of one whose end is lost. There may have been more than `known`, so nobody may take it for a
 * successor unseen: its salts lead far from that one, and tell how much of it was known.
 */
export function replacementOf({ pageSize, sequence, salt1, salt2, frames }: LogPosition): LogPosition {
  return startLog(pageSize, (sequence + 1) >>> 0, (salt1 + REPLACEMENT_STEP) >>> 0, (salt2 + frames) >>> 0);
}

/** How many frames of `known` were known to who put `found` in its place; null when that is not what it is. */
export function framesReplaced(found: LogPosition, known: LogPosition): number | null {
  const isReplacement = (found.salt1 - known.salt1) >>> 0 === REPLACEMENT_STEP;
  return isReplacement ? (found.salt2 - known.salt2) >>> 0 : null;
}
