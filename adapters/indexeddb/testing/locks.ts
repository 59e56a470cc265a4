// Web Locks, exclusive ones, between the tabs of a test's site: https://w3c.github.io/web-locks/
import type { Tab } from "./site.ts";

interface Waiting {
  readonly tab: Tab;
  readonly callback: (lock: Lock | null) => unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class FakeLocks {
  readonly #held: Map<string, Waiting> = new Map();
  readonly #queues: Map<string, Waiting[]> = new Map();

  of(tab: Tab): LockManager {
    const request = (name: string, ...rest: [LockOptions, Waiting["callback"]] | [Waiting["callback"]]): unknown => {
      const [options, callback] = rest.length === 2 ? rest : [{}, rest[0]];
      return new Promise((resolve, reject) => this.#request(name, options, { tab, callback, resolve, reject }));
    };
    return { request } as unknown as LockManager;
  }

  isHeld(name: string): boolean {
    return this.#held.has(name);
  }

  /** Requests that wait. */
  waiting(name: string): number {
    return this.#queues.get(name)?.length ?? 0;
  }

  #request(name: string, { steal, ifAvailable, signal }: LockOptions, waiting: Waiting): void {
    if (signal !== undefined && (steal || ifAvailable)) {
      throw new DOMException("a signal goes with neither", "NotSupportedError");
    }
    signal?.throwIfAborted();
    const queue = this.#queues.get(name) ?? [];
    this.#queues.set(name, queue);
    if (steal) {
      const victim = this.#held.get(name);
      this.#held.delete(name);
      // Its callback goes on, and holds nothing.
      victim?.tab.run(() => victim.reject(new DOMException("the lock was stolen", "AbortError")));
      queue.unshift(waiting);
    } else if (ifAvailable && (this.#held.has(name) || queue.length > 0)) {
      setImmediate(() => waiting.tab.run(() => void this.#call(name, waiting, false)));
    } else queue.push(waiting);
    signal?.addEventListener("abort", () => {
      if (!queue.includes(waiting)) return;
      queue.splice(queue.indexOf(waiting), 1);
      waiting.reject(signal.reason);
    });
    this.#next(name);
  }

  #next(name: string): void {
    if (this.#held.has(name)) return;
    const waiting = this.#queues.get(name)?.shift();
    if (waiting === undefined) return;
    this.#held.set(name, waiting);
    setImmediate(() => waiting.tab.run(() => void this.#call(name, waiting, true)));
  }

  async #call(name: string, waiting: Waiting, granted: boolean): Promise<void> {
    try {
      waiting.resolve(await waiting.callback(granted ? { name, mode: "exclusive" } : null));
    } catch (error) {
      waiting.reject(error);
    }
    if (this.#held.get(name) !== waiting) return;
    this.#held.delete(name);
    this.#next(name);
  }
}
