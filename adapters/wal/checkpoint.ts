// Moves the log into the base, a slice at a time so that no commit waits long, and starts the log over once the base has
// everything and is durable. Needs the lease at every step. Stopping anywhere is safe: until the log starts over, all it
// holds is still in it and lies over the base.
import type { OptionChecks } from "../../src/check.ts";
import type { Pages } from "../../src/port.ts";
import type { Base } from "./base.ts";
import type { Log } from "./log.ts";
import type { Program } from "./program.ts";
import { frameBytes, type LogPosition, WAL_HEADER_BYTES } from "./wal.ts";

/**
 * Frames at which a checkpoint begins, at the least. Eight times SQLite's default: pages that change again and again are
 * copied less often, and the rare commit that waits for the base to be durable is rarer than one in a hundred.
 */
const LEAST_FRAMES = 8000;
/**
 * Frames for each page of a larger database: its pages are scattered, so the more of them are copied at a time the less
 * each of them costs.
 */
const FRAMES_PER_PAGE = 0.5;
/** Times as many frames as a checkpoint begins at: the space that the log keeps when it starts over. */
const KEPT = 2;

/** The option that says otherwise. */
export const CHECKPOINT_CHECKS: OptionChecks = {
  checkpointFrames: {
    is: (value) => Number.isSafeInteger(value) && Number(value) > 0,
    expected: "an integer above 0",
  },
};

/** Pages that one commit copies; a group that changed many copies more, or the log would outgrow the copying. */
const SLICE_PAGES = 64;
const SLICE_PER_CHANGED_PAGE = 2;
/** Pages that one sync of the base makes durable, about: many more at the end, and that commit would wait for all of them. */
const PAGES_PER_SYNC = 1024;

export class Checkpoint {
  /** Pages that the log holds. */
  readonly #logged: Set<number> = new Set();
  /** Those of them whose last state is not in the base. */
  readonly #waiting: Set<number> = new Set();
  /** Those of them that this checkpoint has still to look at, in descending order: taken from the end. */
  #queue: number[] = [];
  /** Pages changed since the last slice. */
  #changed = 0;
  /** Pages copied since the base was synced. */
  #unsynced = 0;
  /** Frames at which to begin; null: as the database's size suggests. */
  readonly #frames: number | null;
  /** More frames than that, after checkpoints that failed: not every commit shall pay for a sick disk. */
  #delay = 0;

  constructor(frames: number | null) {
    this.#frames = frames;
  }

  /** The log now holds these pages too. */
  note(pages: Iterable<number>): void {
    for (const number of pages) {
      this.#logged.add(number);
      this.#waiting.add(number);
      this.#changed++;
    }
  }

  /** Whether the log holds a page: of those that it does not, the base alone has the last state. */
  isLogged(number: number): boolean {
    return this.#logged.has(number);
  }

  /** The log is another one. */
  reset(): void {
    this.#logged.clear();
    this.#waiting.clear();
    this.#queue = [];
    this.#changed = 0;
    this.#unsynced = 0;
    this.#delay = 0;
  }

  /** Asked after every commit. */
  isDue({ frames }: LogPosition, pages: Pages): boolean {
    if (frames >= this.#begin(pages) + this.#delay) return true;
    // What changed before it begins is no reason to hurry once it does.
    this.#changed = 0;
    return false;
  }

  /** Copies a slice, or everything; true when nothing is left and the base is durable. */
  *advance(base: Base, pages: Pages, everything: boolean): Program<boolean> {
    try {
      const most = everything ? Infinity : Math.max(SLICE_PAGES, SLICE_PER_CHANGED_PAGE * this.#changed);
      this.#changed = 0;
      if (this.#queue.length === 0) this.#queue = this.#left(pages).toReversed();
      this.#copy(base, pages, this.#queue.splice(-Math.min(most, this.#queue.length)).toReversed());
      if (this.#waiting.size > most) {
        if (this.#unsynced >= PAGES_PER_SYNC) yield* this.#sync(base);
        return false;
      }
      this.#copy(base, pages, this.#left(pages));
      // Page 1 counts the transactions: it comes last, so that a base without it is known for an older one.
      base.write([1], pages);
      base.trim(pages);
      yield* this.#sync(base);
      return true;
    } catch (error) {
      for (const number of this.#logged) this.#waiting.add(number);
      this.#delay += Math.ceil(this.#begin(pages) / 4);
      throw error;
    }
  }

  /** In ascending order, which the disk likes. Those that the database has no more, having shrunk, wait for nothing. */
  #left({ pageCount }: Pages): number[] {
    for (const number of this.#waiting) if (number > pageCount) this.#waiting.delete(number);
    const left = [...this.#waiting].filter((number) => number !== 1);
    return left.sort((a, b) => a - b);
  }

  #copy(base: Base, pages: Pages, numbers: readonly number[]): void {
    const still = numbers.filter((number) => number <= pages.pageCount);
    base.write(still, pages);
    for (const number of numbers) this.#waiting.delete(number);
    this.#unsynced += still.length;
  }

  *#sync(base: Base): Program<void> {
    yield* base.sync();
    this.#unsynced = 0;
  }

  /** Starts the log over. */
  *finish(log: Log, start: LogPosition, pages: Pages): Program<void> {
    this.reset();
    yield* log.restart(start, WAL_HEADER_BYTES + KEPT * this.#begin(pages) * frameBytes(start.pageSize));
  }

  #begin({ pageCount }: Pages): number {
    return this.#frames ?? Math.max(LEAST_FRAMES, Math.ceil(pageCount * FRAMES_PER_PAGE));
  }
}
