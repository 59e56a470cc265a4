// The asynchronous shell: operations take effect in the order of the calls; those that arrive while a flush is under way
// run together, in one transaction with one flush (queue.ts). Reads wait for what they saw to be durable (L3).
import { StorageRefused, StoreClosed } from "../errors.ts";
import type { AsyncAdapter, PlaceOptions, Problem, SyncAdapter } from "../port.ts";
import type { JsonObject } from "../records/json.ts";
import type { Execution, OutboxRow, SpawnRow, Timer, TraceEntry } from "../records/structs.ts";
import { abandon } from "./abandon.ts";
import type { LimitOptions } from "./arguments.ts";
import type { ListOptions, Page } from "./listing.ts";
import { asyncAdapterFor, MEMORY } from "./locations.ts";
import { createSchema, operations, type Work } from "./operations.ts";
import type { StoreOptions } from "./options.ts";
import type { Effects } from "./prepared.ts";
import { Queue } from "./queue.ts";
import { Session } from "./session.ts";
import { type Listener, type SubscribeOptions, Subscribers } from "./subscribers.ts";

/**
 * A store of Executions whose commits are durable when their promises resolve.
 *
 * Every operation rejects with `StoreClosed` after `close`, and `RecordInvalid` for arguments it cannot use. Each first takes in
 * what other stores of the same place committed, and so may meet `StoreBusy` (somebody is writing, for all of
 * `busyTimeoutMs`), `StorageRefused` (the place was replaced), `ImageCorrupt` or `Fenced`. Writes may meet `FlushFailed`
 * as well; they are undone then, and can be tried again.
 */
export class AsyncSqliteStore {
  readonly #adapter: AsyncAdapter | SyncAdapter;
  readonly #session: Session;
  readonly #subscribers: Subscribers;
  readonly #queue: Queue;
  #closing: Promise<void> | null = null;

  private constructor(adapter: AsyncAdapter | SyncAdapter, session: Session) {
    if (!(session instanceof Session)) {
      throw new StorageRefused("unsupported", "new", "a store is opened with `await AsyncSqliteStore.create(…)`");
    }
    this.#adapter = adapter;
    this.#session = session;
    this.#subscribers = new Subscribers(adapter);
    this.#queue = new Queue(adapter, session, this.#subscribers);
  }

  /**
   * Opens a store. `where` is a name (a file path under Node, Deno and Bun), `":memory:"` (the default), or an adapter;
   * options about the place count only for a name.
   *
   * @throws StorageRefused, ImageCorrupt, StoreBusy, EngineFailed
   */
  static async create(
    where: string | AsyncAdapter | SyncAdapter = MEMORY,
    options: StoreOptions & PlaceOptions = {},
  ): Promise<AsyncSqliteStore> {
    const adapter = asyncAdapterFor(where, options);
    let session: Session | null = null;
    try {
      session = await Session.open(adapter.place, await adapter.load(), options);
      const store = new AsyncSqliteStore(adapter, session);
      if (session.incomplete) await store.#queue.add(createSchema);
      return store;
    } catch (error) {
      session?.close();
      await abandon(adapter);
      throw error;
    }
  }

  /** A fresh copy of an Execution, or null. @throws RecordInvalid when the stored one cannot be read without loss */
  async load(id: string): Promise<Execution | null> {
    return this.#run(() => operations.load(id));
  }

  /** `load` and `isProcessed` in one query. A missing Execution gives `[null, false]`. */
  async loadForEvent(id: string, eventId: string): Promise<[Execution | null, boolean]> {
    return this.#run(() => operations.loadForEvent(id, eventId));
  }

  /** Writes an Execution and bumps its `version`. @throws StoreConflict, RecordInvalid, FlushFailed, StoreBusy */
  async save(exe: Execution): Promise<void> {
    return this.#run(() => operations.commit(exe));
  }

  /** Writes an Execution with all an event did, or nothing. @throws StoreConflict, RecordInvalid, FlushFailed, StoreBusy */
  async commit(exe: Execution, effects?: Effects): Promise<void> {
    return this.#run(() => operations.commit(exe, effects));
  }

  /** Adds a step to an Execution's trace ring. */
  async appendTrace(id: string, entry: JsonObject): Promise<void> {
    return this.#run(() => operations.appendTrace(id, entry));
  }

  /** The steps kept, oldest first. */
  async readTrace(id: string): Promise<TraceEntry[]> {
    return this.#run(() => operations.readTrace(id));
  }

  /** Summaries in the order of ids, a page at a time. @throws RecordInvalid when `limit` is below 1 */
  async listExecutions(options?: ListOptions): Promise<Page> {
    return this.#run(() => operations.listExecutions(options));
  }

  /** Whether an event was recorded as handled. */
  async isProcessed(id: string, eventId: string): Promise<boolean> {
    return this.#run(() => operations.isProcessed(id, eventId));
  }

  /** Events that wait for delivery, oldest first. */
  async pendingOutbox(options?: LimitOptions): Promise<OutboxRow[]> {
    return this.#run(() => operations.pendingOutbox(options));
  }

  /** The event was delivered. A `seq` that is not there is no error. */
  async ackOutbox(seq: number): Promise<void> {
    return this.#run(() => operations.ackOutbox(seq));
  }

  /** Children that wait to be started, oldest first. */
  async pendingSpawns(options?: LimitOptions): Promise<SpawnRow[]> {
    return this.#run(() => operations.pendingSpawns(options));
  }

  /** The child was started. A `seq` that is not there is no error. */
  async ackSpawn(seq: number): Promise<void> {
    return this.#run(() => operations.ackSpawn(seq));
  }

  /** Timers with `fire_at` ≤ `now` (seconds since the epoch; Infinity for all), soonest first. */
  async dueTimers(now: number): Promise<Timer[]> {
    return this.#run(() => operations.dueTimers(now));
  }

  /** Deletes a timer if it is still set for `fireAt`: one that was set anew stays. */
  async deleteTimer(id: string, path: string, fireAt: number): Promise<void> {
    return this.#run(() => operations.deleteTimer(id, path, fireAt));
  }

  /** The whole database as an ordinary SQLite file. */
  async exportDatabase(): Promise<Uint8Array> {
    return this.#run(() => operations.exportDatabase());
  }

  /**
   * What is wrong with the store, up to `limit` things (default 1000); nothing when it is sound. Looks at the database in
   * memory and at what is stored. Changes nothing. @throws StoreBusy, StorageRefused
   */
  async verify(options?: LimitOptions): Promise<Problem[]> {
    return this.#run(() => operations.verify(options));
  }

  /**
   * Calls `listener` after each flush of this store, and when another store's commits are told or seen, with what kinds
   * of rows of which Executions changed. Returns what ends it; so does aborting `signal`.
   */
  subscribe(listener: Listener, options?: SubscribeOptions): () => void {
    if (this.#closing !== null) throw new StoreClosed();
    return this.#subscribers.add(listener, options);
  }

  /** Lets what was called before finish, then releases everything. Every later call rejects with `StoreClosed`, except this one. */
  close(): Promise<void> {
    this.#subscribers.clear();
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    await this.#queue.drained();
    await this.#adapter.close(this.#session.close());
  }

  /** Checks the arguments now, in the caller's turn; the methods being async, what it throws rejects. */
  #run<T>(prepare: () => Work<T>): Promise<T> {
    this.#refuseClosed();
    const work = prepare();
    // A getter in what was given may have closed the store.
    this.#refuseClosed();
    return this.#queue.add(work);
  }

  #refuseClosed(): void {
    if (this.#closing !== null) throw new StoreClosed();
  }
}
