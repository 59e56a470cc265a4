// A site with several tabs, in one process: IndexedDB by fake-indexeddb, locks and channels as their specifications say.
// Not part of the package.
import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import type { Lifecycle, Platform } from "../platform.ts";
import { FakeChannel } from "./channel.ts";
import { Clock } from "./clock.ts";
import { FakeLocks } from "./locks.ts";

/** One origin: what its tabs share. */
export class Site {
  indexedDB: globalThis.IDBFactory = new IDBFactory();
  readonly locks: FakeLocks = new FakeLocks();
  readonly channels: Set<FakeChannel> = new Set();
  readonly clock: Clock = new Clock();

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
  knowsDurability = true;
  hidden = false;
  hasChannels = true;
  /** In place of the site's. */
  factory: (() => globalThis.IDBFactory | undefined) | null = null;

  constructor(site: Site) {
    this.#site = site;
  }

  indexedDB(): globalThis.IDBFactory | undefined {
    return this.factory === null ? this.#site.indexedDB : this.factory();
  }

  hasDurability(): boolean {
    return this.knowsDurability;
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
    return this.#site.clock.now();
  }

  after(ms: number, work: () => void): () => void {
    return this.#site.clock.after(ms, () => this.run(work));
  }

  soon(work: () => void): void {
    setImmediate(() => this.run(work));
  }

  isHidden(): boolean {
    return this.hidden;
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
    this.#site.clock.touch();
    if (this.#frozen) this.#backlog.push(task);
    else task();
  }
}
