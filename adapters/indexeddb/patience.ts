// How long IndexedDB is waited for. Waiting is cut into ticks: while a page is frozen no more than one of them can pass,
// so a page that goes on is not told that nothing answered. One timer serves all that is waited for.
import type { Platform } from "./platform.ts";

const TICKS = 4;

/** Something that is waited for. */
export interface Wait {
  /** It goes on: the time begins anew. */
  touch(): void;
  end(): void;
}

export class Patience {
  readonly #platform: Platform;
  readonly #tickMs: number;
  readonly #waits: Map<Wait, { left: number; readonly expired: () => void }> = new Map();
  #ticking = false;

  constructor(platform: Platform, limitMs: number) {
    this.#platform = platform;
    this.#tickMs = limitMs / TICKS;
  }

  /** Calls `expired` once, when for so long nothing came. */
  wait(expired: () => void): Wait {
    // The tick under way may end at any moment.
    const state = { left: TICKS + 1, expired };
    const wait: Wait = {
      touch() {
        state.left = TICKS + 1;
      },
      end: () => this.#waits.delete(wait),
    };
    this.#waits.set(wait, state);
    if (!this.#ticking) this.#tick();
    return wait;
  }

  /** Ticks as long as there is anything to wait for; a commit does not have to start or stop it. */
  #tick(): void {
    this.#ticking = this.#waits.size > 0;
    if (!this.#ticking) return;
    this.#platform.after(this.#tickMs, () => {
      for (const [wait, state] of this.#waits) {
        if (--state.left > 0) continue;
        this.#waits.delete(wait);
        state.expired();
      }
      this.#tick();
    });
  }
}
