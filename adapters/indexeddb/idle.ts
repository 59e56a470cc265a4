// Work for which nobody waits, a step at a time, once a store was not used for a while.
import type { Platform } from "./platform.ts";

/** Who works in a page pauses longer than commits in a row do, and shorter than it takes to leave. */
const QUIET_MS = 5000;

export class IdleWork {
  readonly #platform: Platform;
  readonly #isWanted: () => boolean;
  readonly #step: () => Promise<boolean>;
  /** How often the store was used, and when it was last. */
  #uses = 0;
  #lastUse = 0;
  #cancel: (() => void) | null = null;
  #closed = false;

  /** `step` tells whether there is more to do. It never rejects. */
  constructor(platform: Platform, isWanted: () => boolean, step: () => Promise<boolean>) {
    this.#platform = platform;
    this.#isWanted = isWanted;
    this.#step = step;
  }

  /** The store was used. Costs next to nothing: one timer runs, if any. */
  used(): void {
    this.#uses++;
    this.#lastUse = this.#platform.now();
    if (this.#cancel === null && !this.#closed && this.#isWanted()) this.#wait(QUIET_MS);
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
    this.#cancel = null;
  }

  #wait(ms: number): void {
    this.#cancel = this.#platform.after(ms, () => void this.#run());
  }

  async #run(): Promise<void> {
    const left = this.#lastUse + QUIET_MS - this.#platform.now();
    if (left > 0) return this.#wait(left);
    const uses = this.#uses;
    while (!this.#closed && this.#uses === uses && (await this.#step()));
    this.#cancel = null;
    // What was begun while it was used is not given up for good.
    if (this.#uses !== uses && !this.#closed && this.#isWanted()) this.#wait(QUIET_MS);
  }
}
