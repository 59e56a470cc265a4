// Who is told that something changed: the listeners of one store, about its own flushes and about those of others. They
// are told where to look, when it is durable (L3), and can harm neither the store nor each other.
import { RecordInvalid } from "../errors.ts";
import { checkOptions } from "../check.ts";
import type { AsyncAdapter, Change, RowKind, SyncAdapter } from "../port.ts";

/** What changed, and whether by this store ("local") or by another one on the same place ("remote"). */
export interface StoreChange extends Change {
  readonly origin: "local" | "remote";
}

export type Listener = (change: StoreChange) => void;

/** An `AbortSignal`, as far as it is used: these types need no DOM library. */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface SubscribeOptions {
  /** Ends the subscription when it aborts. */
  readonly signal?: EndSignal | null;
}

/** What is told when others wrote and nobody said what. */
const ANYTHING: StoreChange = {
  origin: "remote",
  kinds: ["executions", "outbox", "processed_events", "timers", "spawns", "trace"],
  executionIds: null,
};

const SIGNAL = {
  is: (value: unknown) => value === null || value instanceof AbortSignal,
  expected: "an AbortSignal",
};

export class Subscribers {
  readonly #adapter: SyncAdapter | AsyncAdapter;
  /** By what ends each: one function may listen twice. */
  readonly #listeners: Map<() => void, Listener> = new Map();
  #unwatch: (() => void) | null = null;
  /** Whether others told of something since it was looked for last. */
  #heard = false;

  constructor(adapter: SyncAdapter | AsyncAdapter) {
    this.#adapter = adapter;
  }

  /** Returns what ends it. Throws `RecordInvalid`. */
  add(listener: Listener, options: SubscribeOptions = {}): () => void {
    if (typeof listener !== "function") throw new RecordInvalid("subscribe", ["listener"], "expected a function");
    checkOptions("subscribe", options, { signal: SIGNAL }, ["options"]);
    const signal = options.signal ?? null;
    if (signal?.aborted === true) return () => {};
    const end = (): void => {
      signal?.removeEventListener("abort", end);
      this.#listeners.delete(end);
      if (this.#listeners.size > 0) return;
      this.#unwatch?.();
      this.#unwatch = null;
    };
    signal?.addEventListener("abort", end);
    this.#listeners.set(end, listener);
    this.#unwatch ??= this.#adapter.watch?.((change) => this.#hear(change)) ?? null;
    return end;
  }

  /** What this store made durable with one flush. */
  tell(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    if (this.#listeners.size === 0 && this.#adapter.announce === undefined) return;
    const change = merge(changes);
    this.#adapter.announce?.(change);
    this.#call({ ...change, origin: "local" });
  }

  /**
   * A read or a write looked whether others wrote. Those who did may have said so themselves; or they died before they
   * could, or cannot be heard here.
   */
  looked(isNews: boolean): void {
    if (isNews && !this.#heard) this.#call(ANYTHING);
    this.#heard = false;
  }

  /** Nobody listens any more. A signal may outlive the store: nothing is left on it. */
  clear(): void {
    for (const end of this.#listeners.keys()) end();
  }

  #hear(change: Change): void {
    this.#heard = true;
    this.#call({ ...change, origin: "remote" });
  }

  #call(change: StoreChange): void {
    for (const listener of [...this.#listeners.values()]) {
      try {
        listener(change);
      } catch (error) {
        // Theirs, not the commit's: it goes where the errors of event listeners go.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

function merge(changes: readonly Change[]): Change {
  if (changes.length === 1) return changes[0]!;
  const kinds = new Set<RowKind>();
  const ids = new Set<string>();
  let any = false;
  for (const change of changes) {
    for (const kind of change.kinds) kinds.add(kind);
    if (change.executionIds === null) any = true;
    else for (const id of change.executionIds) ids.add(id);
  }
  return { kinds: [...kinds], executionIds: any ? null : [...ids] };
}
