// What the tests of the IndexedDB adapter share: a site with several tabs, in one process. Its IndexedDB is
// fake-indexeddb; locks and channels are made here, as their specifications say. Not part of the package.
import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import type { Lifecycle, Platform } from "./platform.ts";

/** One origin: what its tabs share. */
export class Site {
  indexedDB: globalThis.IDBFactory = new IDBFactory();
  readonly locks: FakeLocks = new FakeLocks();
  readonly channels: Set<FakeChannel> = new Set();

  /** Another tab. */
  tab(): Tab {
    return new Tab(this);
  }
}

/** A tab: what runs in it stops while it is frozen, and goes on with what came meanwhile. */
export class Tab implements Platform {
  readonly #site: Site;
  readonly #listeners: Set<(event: Lifecycle) => void> = new Set();
  #frozen = false;
  #backlog: (() => void)[] = [];
  hasLocks = true;
  hasChannels = true;
  /** In place of the site's. */
  factory: (() => globalThis.IDBFactory | undefined) | null = null;

  constructor(site: Site) {
    this.#site = site;
  }

  indexedDB(): globalThis.IDBFactory | undefined {
    return this.factory === null ? this.#site.indexedDB : this.factory();
  }

  locks(): LockManager | undefined {
    return this.hasLocks ? this.#site.locks.of(this) : undefined;
  }

  channel(name: string): BroadcastChannel | null {
    return this.hasChannels ? (new FakeChannel(this.#site, this, name) as unknown as BroadcastChannel) : null;
  }

  range(lower: IDBValidKey, upper: IDBValidKey): globalThis.IDBKeyRange {
    return IDBKeyRange.bound(lower, upper);
  }

  now(): number {
    return performance.now();
  }

  after(ms: number, work: () => void): () => void {
    let cancelled = false;
    const timer = setTimeout(() => this.run(() => !cancelled && work()), ms);
    return () => {
      cancelled = true;
      clearTimeout(timer);
    };
  }

  onLifecycle(listener: (event: Lifecycle) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(event: Lifecycle): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Stops without a word, as a tab does that hangs. */
  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    const backlog = this.#backlog;
    this.#backlog = [];
    for (const task of backlog) this.run(task);
  }

  /** Runs a task of the tab's, now or when it is thawed. */
  run(task: () => void): void {
    if (this.#frozen) this.#backlog.push(task);
    else task();
  }
}

class FakeChannel extends EventTarget {
  readonly #site: Site;
  readonly #tab: Tab;
  readonly #name: string;
  #closed = false;

  constructor(site: Site, tab: Tab, name: string) {
    super();
    this.#site = site;
    this.#tab = tab;
    this.#name = name;
    site.channels.add(this);
  }

  postMessage(message: unknown): void {
    if (this.#closed) throw new DOMException("the channel is closed", "InvalidStateError");
    for (const other of this.#site.channels) {
      if (other === this || other.#name !== this.#name) continue;
      const data: unknown = structuredClone(message);
      const event = new MessageEvent("message", { data });
      setImmediate(() => other.#tab.run(() => void (other.#closed || other.dispatchEvent(event))));
    }
  }

  close(): void {
    this.#closed = true;
    this.#site.channels.delete(this);
  }
}

interface Waiting {
  readonly tab: Tab;
  readonly callback: (lock: Lock | null) => unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Web Locks, exclusive ones: https://w3c.github.io/web-locks/ */
class FakeLocks {
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

  #request(name: string, { steal, ifAvailable, signal }: LockOptions, waiting: Waiting): void {
    if (signal !== undefined && (steal || ifAvailable)) {
      throw new DOMException("a signal goes with neither", "NotSupportedError");
    }
    if (signal?.aborted) throw signal.reason;
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
