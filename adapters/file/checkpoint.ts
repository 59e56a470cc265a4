// Moves the log into the base, a slice at a time so that no commit waits long, and starts the log over once the base has
// everything and is durable. Needs the lease at every step. Stopping anywhere is safe: until the log starts over, all it
// holds is still in it and lies over the base.
import type { Pages } from "../../src/port.ts";
import type { BaseFile } from "./base-file.ts";
import type { Program } from "./disk.ts";
import type { LogFile } from "./log-file.ts";
import { frameBytes, type LogPosition, WAL_HEADER_BYTES } from "./wal.ts";

/** SQLite's own default. */
export const DEFAULT_CHECKPOINT_FRAMES = 1000;
/** Pages that one commit copies at the most. */
export const SLICE_PAGES = 64;

export class Checkpoint {
  /** Pages that the log holds. */
  readonly #logged: Set<number> = new Set();
  /** Those of them whose last state is not in the base. */
  readonly #waiting: Set<number> = new Set();
  readonly #frames: number;
  /** Frames at which to begin; more after a checkpoint that failed, so that not every commit pays for a sick disk. */
  #beginAt: number;

  constructor(frames: number) {
    this.#frames = frames;
    this.#beginAt = frames;
  }

  /** The log now holds these pages too. */
  note(pages: Iterable<number>): void {
    for (const number of pages) {
      this.#logged.add(number);
      this.#waiting.add(number);
    }
  }

  /** The log is another one. */
  reset(): void {
    this.#logged.clear();
    this.#waiting.clear();
    this.#beginAt = this.#frames;
  }

  isDue({ frames }: LogPosition): boolean {
    return frames >= this.#beginAt;
  }

  /** Copies up to `slicePages`; true when those were the last ones, and the base is durable. */
  *advance(base: BaseFile, pages: Pages, slicePages: number): Program<boolean> {
    try {
      // Page 1 counts the transactions: it comes last, so that a base without it is known for an older one.
      const others = [...this.#waiting].filter((number) => number !== 1 && number <= pages.pageCount);
      const slice = others.sort((a, b) => a - b).slice(0, slicePages);
      base.write(slice, pages);
      for (const number of slice) this.#waiting.delete(number);
      if (slice.length < others.length) return false;
      base.write([1], pages);
      base.trim(pages);
      yield* base.sync();
      return true;
    } catch (error) {
      for (const number of this.#logged) this.#waiting.add(number);
      this.#beginAt += Math.ceil(this.#frames / 4);
      throw error;
    }
  }

  /** Starts the log over. */
  *finish(log: LogFile, start: LogPosition): Program<void> {
    this.reset();
    yield* log.restart(start, WAL_HEADER_BYTES + 2 * this.#frames * frameBytes(start.pageSize));
  }
}
