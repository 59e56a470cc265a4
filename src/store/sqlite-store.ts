// The synchronous shell: every operation runs and is durable when it returns. For adapters that flush synchronously.
import { Fenced, StorageRefused, StoreClosed } from "../errors.ts";
import type { PageDelta, PlaceOptions, Problem, SyncAdapter } from "../port.ts";
import type { JsonObject } from "../records/json.ts";
import type { Execution, OutboxRow, SpawnRow, Timer, TraceEntry } from "../records/structs.ts";
import { abandon } from "./abandon.ts";
import type { LimitOptions } from "./arguments.ts";
import type { ListOptions, Page } from "./listing.ts";
import { MEMORY, syncAdapterFor } from "./locations.ts";
import { createSchema, FENCED_TRIES, operations, type Work } from "./operations.ts";
import type { StoreOptions } from "./options.ts";
import type { Effects } from "./prepared.ts";
import { Session } from "./session.ts";
import { type Listener, type SubscribeOptions, Subscribers } from "./subscribers.ts";
import { problemOf } from "./verify.ts";

/**
 * A store of Executions whose commits are durable when they return.
 *
 * Every operation throws `StoreClosed` after `close`, and `RecordInvalid` for arguments it cannot use. Each first takes in
 * what other stores of the same place committed, and so may meet `StoreBusy` (somebody is writing, for all of
 * `busyTimeoutMs`), `StorageRefused` (the place was replaced), `ImageCorrupt` or `Fenced`. Writes may meet `FlushFailed`
 * as well; they are undone then, and can be tried again.
 */
export class SqliteStore {
  readonly #adapter: SyncAdapter;
  readonly #session: Session;
  readonly #subscribers: Subscribers;
  #closed = false;

  private constructor(adapter: SyncAdapter, session: Session) {
    if (!(session instanceof Session)) {
      throw new StorageRefused("unsupported", "new", "a store is opened with `await SqliteStore.create(…)`");
    }
    this.#adapter = adapter;
    this.#session = session;
    this.#subscribers = new Subscribers(adapter);
  }

  /**
   * Opens a store. `where` is a file path, `":memory:"` (the default), or an adapter; options about the place count
   * only for a path. Loading the engine is why this waits; nothing else does.
   *
   * @throws StorageRefused, ImageCorrupt, StoreBusy, EngineFailed
   */
  static async create(
    where: string | SyncAdapter = MEMORY,
    options: StoreOptions & PlaceOptions = {},
  ): Promise<SqliteStore> {
    const adapter = syncAdapterFor(where, options);
    let session: Session | null = null;
    try {
      session = await Session.open(adapter.place, adapter.load(), options);
      const store = new SqliteStore(adapter, session);
      if (session.incomplete) store.#write(createSchema);
      return store;
    } catch (error) {
      session?.close();
      await abandon(adapter);
      throw error;
    }
  }

  /** A fresh copy of an Execution, or null. @throws RecordInvalid when the stored one cannot be read without loss */
  load(id: string): Execution | null {
    return this.#run(() => operations.load(id));
  }

  /** `load` and `isProcessed` in one query. A missing Execution gives `[null, false]`. */
  loadForEvent(id: string, eventId: string): [Execution | null, boolean] {
    return this.#run(() => operations.loadForEvent(id, eventId));
  }

  /** Writes an Execution and bumps its `version`. @throws StoreConflict, RecordInvalid, FlushFailed, StoreBusy */
  save(exe: Execution): void {
    this.#run(() => operations.commit(exe));
  }

  /** Writes an Execution with all an event did, or nothing. @throws StoreConflict, RecordInvalid, FlushFailed, StoreBusy */
  commit(exe: Execution, effects?: Effects): void {
    this.#run(() => operations.commit(exe, effects));
  }

  /** Adds a step to an Execution's trace ring. */
  appendTrace(id: string, entry: JsonObject): void {
    this.#run(() => operations.appendTrace(id, entry));
  }

  /** The steps kept, oldest first. */
  readTrace(id: string): TraceEntry[] {
    return this.#run(() => operations.readTrace(id));
  }

  /** Summaries in the order of ids, a page at a time. @throws RecordInvalid when `limit` is below 1 */
  listExecutions(options?: ListOptions): Page {
    return this.#run(() => operations.listExecutions(options));
  }

  /** Whether an event was recorded as handled. */
  isProcessed(id: string, eventId: string): boolean {
    return this.#run(() => operations.isProcessed(id, eventId));
  }

  /** Events that wait for delivery, oldest first. */
  pendingOutbox(options?: LimitOptions): OutboxRow[] {
    return this.#run(() => operations.pendingOutbox(options));
  }

  /** The event was delivered. A `seq` that is not there is no error. */
  ackOutbox(seq: number): void {
    this.#run(() => operations.ackOutbox(seq));
  }

  /** Children that wait to be started, oldest first. */
  pendingSpawns(options?: LimitOptions): SpawnRow[] {
    return this.#run(() => operations.pendingSpawns(options));
  }

  /** The child was started. A `seq` that is not there is no error. */
  ackSpawn(seq: number): void {
    this.#run(() => operations.ackSpawn(seq));
  }

  /** Timers with `fire_at` ≤ `now` (seconds since the epoch; Infinity for all), soonest first. */
  dueTimers(now: number): Timer[] {
    return this.#run(() => operations.dueTimers(now));
  }

  /** Deletes a timer if it is still set for `fireAt`: one that was set anew stays. */
  deleteTimer(id: string, path: string, fireAt: number): void {
    this.#run(() => operations.deleteTimer(id, path, fireAt));
  }

  /** The whole database as an ordinary SQLite file. */
  exportDatabase(): Uint8Array {
    return this.#run(() => operations.exportDatabase());
  }

  /**
   * What is wrong with the store, up to `limit` things (default 1000); nothing when it is sound. Looks at the database in
   * memory and at what is stored. Changes nothing. @throws StoreBusy, StorageRefused
   */
  verify(options?: LimitOptions): Problem[] {
    return this.#run(() => operations.verify(options));
  }

  /**
   * Calls `listener` after each flush of this store, and when another store's commits are seen, with what kinds of rows
   * of which Executions changed. Returns what ends it; so does aborting `signal`.
   */
  subscribe(listener: Listener, options?: SubscribeOptions): () => void {
    if (this.#closed) throw new StoreClosed();
    return this.#subscribers.add(listener, options);
  }

  /** Releases everything. Every later call throws `StoreClosed`, except this one. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscribers.clear();
    this.#adapter.close(this.#session.close());
  }

  #run<T>(prepare: () => Work<T>): T {
    if (this.#closed) throw new StoreClosed();
    const work = prepare();
    // A getter in what was given may have closed the store.
    if (this.#closed) throw new StoreClosed();
    if (work.writes) return this.#write(work);
    if (work.inspect !== undefined) return this.#inspect(work, work.inspect);
    const session = this.#session;
    const news = session.take(this.#adapter.pull(session.position, session.pages));
    const result = session.read(() => work.run(session));
    this.#subscribers.looked(news);
    return result;
  }

  #write<T>(work: Work<T>): T {
    for (let tries = 1; ; tries++) {
      try {
        return this.#writeOnce(work);
      } catch (error) {
        // Others wrote while we believed that the lease was ours, and nothing of ours is there. On what they made of it
        // compare-and-swap tells whether it is a conflict (L4).
        if (!(error instanceof Fenced) || tries >= FENCED_TRIES) throw error;
      }
    }
  }

  #writeOnce<T>(work: Work<T>): T {
    // A listener that was told of the others' news may have closed the store.
    if (this.#closed) throw new StoreClosed();
    const session = this.#session;
    const release = this.#adapter.lock();
    let result: T;
    let news = false;
    try {
      news = session.take(this.#adapter.pull(session.position, session.pages));
      result = session.transaction(() => work.run(session));
      const delta = session.delta();
      if (delta !== null) {
        this.#flush(delta);
        this.#adapter.checkpoint(session.pages);
      }
    } finally {
      release();
      this.#subscribers.looked(news);
    }
    work.done();
    if (work.change !== null) this.#subscribers.tell([work.change]);
    return result;
  }

  #inspect<T>(work: Work<T>, join: NonNullable<Work<T>["inspect"]>): T {
    const session = this.#session;
    const release = this.#adapter.lock();
    let news = false;
    let found: readonly Problem[];
    try {
      try {
        news = session.take(this.#adapter.pull(session.position, session.pages));
        found = this.#adapter.verify?.(session.pages) ?? [];
      } catch (error) {
        found = [problemOf(error)];
      }
      return join(
        session.read(() => work.run(session)),
        found,
      );
    } finally {
      release();
      this.#subscribers.looked(news);
    }
  }

  #flush(delta: PageDelta): void {
    const session = this.#session;
    try {
      session.flushed(this.#adapter.append(delta, session.position));
    } catch (error) {
      session.undo();
      throw error;
    }
  }
}
