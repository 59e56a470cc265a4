// A clock that goes on when nothing else does: a timer runs out when so many turns of the event loop brought nothing
// about. What waits is tested in no time, and a busy machine changes nothing.

/** Turns without any news after which whoever waits would wait for ever. */
const IDLE_TURNS = 40;

interface Timer {
  readonly at: number;
  readonly work: () => void;
}

export class Clock {
  readonly #timers: Set<Timer> = new Set();
  #now = 1000;
  #idle = 0;
  #turning = false;

  now(): number {
    return this.#now;
  }

  /** Something happened. */
  touch(): void {
    this.#idle = 0;
  }

  after(ms: number, work: () => void): () => void {
    const timer = { at: this.#now + ms, work };
    this.#timers.add(timer);
    this.#turn();
    return () => this.#timers.delete(timer);
  }

  #turn(): void {
    if (this.#turning || this.#timers.size === 0) return;
    this.#turning = true;
    setImmediate(() => {
      this.#turning = false;
      if (++this.#idle > IDLE_TURNS) this.#fire();
      this.#turn();
    });
  }

  #fire(): void {
    this.#idle = 0;
    const [first] = [...this.#timers].sort((a, b) => a.at - b.at);
    if (first === undefined) return;
    this.#timers.delete(first);
    this.#now = Math.max(this.#now, first.at);
    first.work();
  }
}
