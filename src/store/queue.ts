// When the asynchronous shell's operations run: in the order of their calls, in groups that share one transaction and one
// flush, each group while the one before it is flushed. Whatever a group saw, its jobs learn of it only when that is
// durable (L3). May not know what the operations are.
import { Fenced, StoreConflict } from "../errors.ts";
import type { AsyncAdapter, Change, Problem, SyncAdapter } from "../port.ts";
import { groupSize, type Job, type Outcome, settle } from "./jobs.ts";
import { FENCED_TRIES, type Work } from "./operations.ts";
import type { Session } from "./session.ts";
import type { Subscribers } from "./subscribers.ts";
import { problemOf } from "./verify.ts";

/** Jobs that ran in memory, and what came of each. No outcomes: undone, because one failed; each must run by itself. */
interface Group {
  readonly jobs: readonly Job[];
  readonly outcomes: readonly (Outcome | undefined)[] | null;
}

const NOTHING: Group = { jobs: [], outcomes: [] };

/** Groups that one lease serves at the most: then others get a chance to write (L4). */
const LONGEST_CHAIN = 8;
/** Fewer jobs than this run as one group: a second flush would cost more than it hides. */
const LEAST_TO_SPLIT = 32;

export class Queue {
  readonly #adapter: AsyncAdapter | SyncAdapter;
  readonly #session: Session;
  readonly #subscribers: Subscribers;
  readonly #jobs: Job[] = [];
  /** Jobs that left the queue in this turn. */
  #taken: Job[] = [];
  #draining: Promise<void> | null = null;
  /** Milliseconds that a job took in the last transaction, and that the last flush took beyond what ran meanwhile. */
  #jobMs = 0;
  #flushMs = 0;
  /** Milliseconds spent in transactions so far. */
  #ranMs = 0;
  /** Flushes in a row that were fenced. */
  #fenced = 0;
  #arrived: () => void = () => {};

  constructor(adapter: AsyncAdapter | SyncAdapter, session: Session, subscribers: Subscribers) {
    this.#adapter = adapter;
    this.#session = session;
    this.#subscribers = subscribers;
  }

  add<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ work, resolve, reject });
      this.#draining ??= this.#drain();
      this.#arrived();
    });
  }

  /** Settles when nothing is left to do. Never rejects. */
  async drained(): Promise<void> {
    await this.#draining;
  }

  /** Never rejects: every job has its own promise. */
  async #drain(): Promise<void> {
    // Calls made in one stretch of code belong together.
    await Promise.resolve();
    while (this.#jobs.length > 0) {
      this.#taken = [];
      const group = this.#take(this.#firstSize());
      try {
        const [first] = group;
        if (first?.work.inspect !== undefined) await this.#runInspection(first, first.work.inspect);
        else if (group.some(({ work }) => work.writes)) await this.#runWrites(group);
        else await this.#runReads(group);
      } catch (error) {
        // Settling twice is harmless; a job left waiting would not be.
        for (const job of this.#taken) job.reject(error);
      }
    }
    this.#draining = null;
  }

  /**
   * Callers often wait for all they called before they call again. Then nothing arrives during a flush; so half of them
   * is left for it, unless the flush takes longer than half of them and all had better share it.
   */
  #firstSize(): number {
    const size = groupSize(this.#jobs);
    if (this.#adapter.synchronous) return size;
    const half = Math.ceil(size / 2);
    return size >= LEAST_TO_SPLIT && this.#flushMs < half * this.#jobMs ? half : size;
  }

  #take(size: number): Job[] {
    const jobs = this.#jobs.splice(0, size);
    this.#taken.push(...jobs);
    return jobs;
  }

  /** To be taken once more, before all others. They were the last ones taken. */
  #putBack(jobs: readonly Job[]): void {
    this.#taken.length -= jobs.length;
    this.#jobs.unshift(...jobs);
  }

  async #catchUp(): Promise<void> {
    const { position, pages } = this.#session;
    this.#subscribers.looked(this.#session.take(await this.#adapter.pull(position, pages)));
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

  /** A group that writes, and those that come while it is flushed, under one lease. */
  async #runWrites(jobs: readonly Job[]): Promise<void> {
    let release: () => void;
    try {
      release = await this.#adapter.lock();
    } catch (error) {
      for (const job of jobs) if (job.work.writes) job.reject(error);
      // Reads need no lease.
      return this.#runReads(jobs.filter(({ work }) => !work.writes));
    }
    let last: Group;
    try {
      await this.#catchUp();
      last = await this.#runChain(jobs);
    } catch (error) {
      // What is left in memory may not go along with the next flush.
      this.#session.undo();
      throw error;
    } finally {
      release();
    }
    // Only now: whoever waited may want the lease at once, on this very thread.
    this.#conclude(last);
    await this.#runReads(last.jobs.filter((_, i) => last.outcomes?.[i] === undefined));
  }

  /** Runs groups one after another, and returns the last one: it is durable, or failed; all before it are concluded. */
  async #runChain(jobs: readonly Job[]): Promise<Group> {
    let group = this.#runTogether(jobs);
    for (let left = LONGEST_CHAIN; ;) {
      if (group.outcomes === null) return this.#runApart(group.jobs);
      const flush = this.#flush();
      const next = --left > 0 ? await this.#runDuring(flush) : null;
      const failure = await flush;
      if (failure !== null) {
        // The next one stood on what is gone, and whatever it saw was never true.
        if (next !== null) this.#putBack(next.jobs);
        if (this.#mayRunAgain(failure.error)) {
          this.#putBack(group.jobs);
          return NOTHING;
        }
        return { jobs: group.jobs, outcomes: group.jobs.map(({ work }) => (work.writes ? failure : undefined)) };
      }
      if (next === null) return group;
      this.#conclude(group);
      group = next;
    }
  }

  /** The group that arrives while a flush is under way, on top of what is being flushed; null when none does. */
  async #runDuring(flush: Promise<unknown>): Promise<Group | null> {
    const arrival = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    if (this.#jobs.length === 0) await Promise.race([flush, arrival]);
    const [first] = this.#jobs;
    if (first === undefined || first.work.alone === true || !this.#session.isFlushing) return null;
    return this.#runTogether(this.#take(groupSize(this.#jobs)));
  }

  /** One transaction. A conflict has changed nothing, and neither has a read; any other failure undoes the group. */
  #runTogether(jobs: readonly Job[]): Group {
    const outcomes: Outcome[] = [];
    const start = performance.now();
    try {
      this.#session.transaction(() => {
        for (const job of jobs) {
          const outcome = this.#attempt(job);
          if ("error" in outcome && job.work.writes && !(outcome.error instanceof StoreConflict)) throw outcome.error;
          outcomes.push(outcome);
        }
      });
    } catch {
      return { jobs, outcomes: null };
    }
    const ms = performance.now() - start;
    this.#jobMs = ms / jobs.length;
    this.#ranMs += ms;
    return { jobs, outcomes };
  }

  /** Each in a transaction with a flush of its own. */
  async #runApart(jobs: readonly Job[]): Promise<Group> {
    const outcomes: Outcome[] = [];
    for (const { work } of jobs) {
      try {
        const value = this.#session.transaction(() => work.run(this.#session));
        const failure = await this.#flush();
        if (failure !== null && this.#mayRunAgain(failure.error)) {
          this.#putBack(jobs.slice(outcomes.length));
          break;
        }
        outcomes.push(failure ?? { value });
      } catch (error) {
        outcomes.push({ error });
      }
    }
    return { jobs: jobs.slice(0, outcomes.length), outcomes };
  }

  /**
   * Others wrote while we believed that the lease was ours. Nothing of ours is there, so it can run again on what they
   * made of it: compare-and-swap tells whether that is a conflict (L4).
   */
  #mayRunAgain(error: unknown): boolean {
    if (error instanceof Fenced && ++this.#fenced < FENCED_TRIES) return true;
    this.#fenced = 0;
    return false;
  }

  /** Makes durable what was written. What went wrong, or null: then all that is not durable is undone. */
  async #flush(): Promise<{ readonly error: unknown } | null> {
    const delta = this.#session.beginFlush();
    if (delta === null) return null;
    const start = performance.now() - this.#ranMs;
    try {
      this.#session.flushed(await this.#adapter.append(delta, this.#session.position));
      this.#fenced = 0;
      this.#flushMs = performance.now() - this.#ranMs - start;
    } catch (error) {
      this.#session.undo();
      return { error };
    }
    await this.#adapter.checkpoint(this.#session.pages);
    return null;
  }

  #attempt({ work }: Job): Outcome {
    try {
      return { value: this.#session.read(() => work.run(this.#session)) };
    } catch (error) {
      return { error };
    }
  }

  /** Tells everybody what came of a group, apart from those whose outcome is gone. */
  #conclude({ jobs, outcomes }: Group): void {
    const changes: Change[] = [];
    for (const [i, job] of jobs.entries()) {
      const outcome = outcomes?.[i];
      if (outcome === undefined) continue;
      settle(job, outcome);
      if ("value" in outcome && job.work.change !== null) changes.push(job.work.change);
    }
    this.#subscribers.tell(changes);
  }
}
