// The asynchronous shell: one operation at a time, in the order of the calls; those that arrive while a flush is under
// way run together next, in one transaction with one flush. Reads wait for the flush like everything else (L3).
import { StorageRefused, StoreClosed, StoreConflict } from "../errors.ts";
import type { AsyncAdapter, Change, PlaceOptions, Problem, SyncAdapter } from "../port.ts";
import type { JsonObject } from "../records/json.ts";
import type { Execution, OutboxRow, SpawnRow, Timer, TraceEntry } from "../records/structs.ts";
import type { LimitOptions } from "./arguments.ts";
import { groupSize, type Job, type Outcome, settle } from "./jobs.ts";
import type { ListOptions, Page } from "./listing.ts";
import { asyncAdapterFor, MEMORY } from "./locations.ts";
import { createSchema, operations, type Work } from "./operations.ts";
import type { StoreOptions } from "./options.ts";
import type { Effects } from "./prepared.ts";
import { Session } from "./session.ts";
import { type Listener, type SubscribeOptions, Subscribers } from "./subscribers.ts";
import { problemOf } from "./verify.ts";

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
  #queue: Job[] = [];
  #draining: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  /** Counts them, to know whether a lease was used for one. */
  #appends = 0;

  private constructor(adapter: AsyncAdapter | SyncAdapter, session: Session) {
    if (!(session instanceof Session)) {
      throw new StorageRefused("unsupported", "new", "a store is opened with `await AsyncSqliteStore.create(…)`");
    }
    this.#adapter = adapter;
    this.#session = session;
    this.#subscribers = new Subscribers(adapter);
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
      if (session.incomplete) await store.#enqueue(createSchema);
      return store;
    } catch (error) {
      session?.close();
      await adapter.close(null);
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
    await this.#draining;
    this.#session.close();
    await this.#adapter.close(this.#session.pages);
  }

  /** Checks the arguments now, in the caller's turn; the methods being async, what it throws rejects. */
  #run<T>(prepare: () => Work<T>): Promise<T> {
    if (this.#closing !== null) throw new StoreClosed();
    return this.#enqueue(prepare());
  }

  #enqueue<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Never rejects: every job has its own promise. */
  async #drain(): Promise<void> {
    // Calls made in one stretch of code belong together.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, groupSize(this.#queue));
      try {
        const [first] = group;
        if (first?.work.inspect !== undefined) await this.#runInspection(first, first.work.inspect);
        else if (group.some(({ work }) => work.writes)) await this.#runGroup(group);
        else await this.#runReads(group);
      } catch (error) {
        // Settling twice is harmless; a job left waiting would not be.
        for (const job of group) job.reject(error);
      }
    }
    this.#draining = null;
  }

  async #runReads(jobs: readonly Job[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.#catchUp();
    for (const job of jobs) settle(job, this.#attempt(job));
  }

  async #runInspection(job: Job, join: NonNullable<Job["work"]["inspect"]>): Promise<void> {
    const release = await this.#adapter.lock();
    let found: readonly Problem[];
    try {
      await this.#catchUp();
      found = (await this.#adapter.verify?.(this.#session.pages)) ?? [];
    } catch (error) {
      found = [problemOf(error)];
    } finally {
      release();
    }
    const outcome = this.#attempt(job);
    settle(job, "error" in outcome ? outcome : { value: join(outcome.value, found) });
  }

  async #catchUp(): Promise<void> {
    const { position, pages } = this.#session;
    if (this.#session.take(await this.#adapter.pull(position, pages))) this.#subscribers.tellNews();
  }

  async #runGroup(group: readonly Job[]): Promise<void> {
    const reads = group.filter(({ work }) => !work.writes);
    const writes = group.filter(({ work }) => work.writes);
    let release: () => void;
    try {
      release = await this.#adapter.lock();
    } catch (error) {
      // Reads need no lease.
      for (const job of writes) job.reject(error);
      return this.#runReads(reads);
    }
    let outcomes: readonly (Outcome | undefined)[];
    try {
      await this.#catchUp();
      const appends = this.#appends;
      outcomes = (await this.#runTogether(group)) ?? (await this.#runApart(group));
      if (this.#appends > appends) await this.#adapter.checkpoint(this.#session.pages);
    } finally {
      release();
    }
    // Only now: whoever waited may want the lease at once, on this very thread.
    const changes: Change[] = [];
    for (const [i, job] of group.entries()) {
      const outcome = outcomes[i];
      if (outcome !== undefined) settle(job, outcome);
      if (outcome !== undefined && "value" in outcome && job.work.change !== null) changes.push(job.work.change);
    }
    this.#subscribers.tell(changes);
    await this.#runReads(group.filter((_, i) => outcomes[i] === undefined));
  }

  /**
   * One transaction, one flush. Null when a member failed with more than a conflict: nothing has happened then. After a
   * flush that failed every write has failed, and what the reads saw is gone (L3): they have no outcome yet.
   */
  async #runTogether(group: readonly Job[]): Promise<readonly (Outcome | undefined)[] | null> {
    const outcomes: Outcome[] = [];
    try {
      this.#session.transaction(() => {
        for (const job of group) {
          const outcome = this.#attempt(job);
          // A conflict has changed nothing, and neither has a read. Anything else may have done half of its work.
          if ("error" in outcome && job.work.writes && !(outcome.error instanceof StoreConflict)) throw outcome.error;
          outcomes.push(outcome);
        }
      });
    } catch {
      return null;
    }
    try {
      await this.#flush();
      return outcomes;
    } catch (error) {
      return group.map(({ work }) => (work.writes ? { error } : undefined));
    }
  }

  /** Each in a transaction with a flush of its own. */
  async #runApart(group: readonly Job[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const { work } of group) {
      try {
        const value = this.#session.transaction(() => work.run(this.#session));
        await this.#flush();
        outcomes.push({ value });
      } catch (error) {
        outcomes.push({ error });
      }
    }
    return outcomes;
  }

  async #flush(): Promise<void> {
    const delta = this.#session.delta();
    if (delta === null) return;
    try {
      this.#session.flushed(await this.#adapter.append(delta, this.#session.position));
      this.#appends++;
    } catch (error) {
      this.#session.undo();
      throw error;
    }
  }

  #attempt({ work }: Job): Outcome {
    try {
      return { value: this.#session.read(() => work.run(this.#session)) };
    } catch (error) {
      return { error };
    }
  }
}
