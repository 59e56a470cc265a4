// One transaction, from its start to an end that is known: it settles on `complete`, on `abort`, when the page is stopped,
// or when IndexedDB does not answer, and says which. A request that succeeded is not durable yet; nothing is believed before `complete` (L2).
import { promisifyRequest } from "idb-keyval";
import { PerdureError } from "../../src/errors.ts";
import { domError, nameOf, TransactionFailed } from "./failures.ts";
import { OBJECT_STORE } from "./layout.ts";
import type { Patience } from "./patience.ts";
import { CutShort, type Pause } from "./pause.ts";

/** What works inside a transaction. It may wait for its requests and for nothing else: a transaction ends by itself. */
export interface Inside {
  readonly store: IDBObjectStore;
  /** Waits for a request. */
  ask<T>(request: IDBRequest<T>): Promise<T>;
}

export function runTransaction<T>(
  patience: Patience,
  pause: Pause,
  store: IDBObjectStore,
  work: (inside: Inside) => Promise<T>,
): Promise<T> {
  const { transaction } = store;
  return new Promise<T>((resolve, reject) => {
    let value: { readonly of: T } | null = null;
    /** Why we ended it, and what it ended of by itself. */
    let reason: unknown = null;
    let failed: unknown = null;
    const waiting = patience.wait(() => {
      const cause = domError("TimeoutError", "no answer");
      reason ??= cause;
      unguard();
      const certain = abort(transaction) || transaction.mode === "readonly";
      reject(new TransactionFailed(cause, certain, true));
    });
    const unguard = pause.guard(() => {
      // Past its commit it needs us no more, and tells how it ended when we go on.
      if (!abort(transaction)) return;
      waiting.end();
      reject(new CutShort());
    });
    transaction.addEventListener("complete", () => {
      waiting.end();
      unguard();
      if (value !== null) resolve(value.of);
      else reject(new TransactionFailed(domError("TransactionInactiveError", "it ended early"), false));
    });
    transaction.addEventListener("error", (event) => {
      const { error } = event.target as IDBRequest;
      // Requests that waited when it was aborted tell nothing about why.
      if (nameOf(error) !== "AbortError") failed ??= error;
    });
    transaction.addEventListener("abort", () => {
      waiting.end();
      unguard();
      if (reason instanceof PerdureError) return reject(reason);
      // The browser gives no error when it is the quota that is used up, but then neither when a connection is lost.
      const cause = reason ?? failed ?? transaction.error;
      // When all had been asked and no request failed, it may have been past its commit.
      const certain = value === null || failed !== null || nameOf(cause) === "QuotaExceededError";
      reject(new TransactionFailed(cause, certain));
    });
    const inside: Inside = {
      store,
      ask<A>(request: IDBRequest<A>): Promise<A> {
        const answer = promisifyRequest(request);
        // An abort fails every request that waits; nobody may be waiting for all of them.
        answer.then(waiting.touch, () => {});
        return answer;
      },
    };
    work(inside).then(
      (result) => {
        value = { of: result };
        commit(transaction);
      },
      (error: unknown) => {
        // Requests fail of an abort too: then its reason is told by the abort itself.
        if (nameOf(error) !== "AbortError") reason ??= error;
        abort(transaction);
      },
    );
  });
}

/** Opens a transaction. What the browser throws means that the connection is of no use. */
export function beginTransaction(
  db: IDBDatabase,
  mode: IDBTransactionMode,
  durability: IDBTransactionDurability,
): IDBObjectStore {
  try {
    return db.transaction(OBJECT_STORE, mode, { durability }).objectStore(OBJECT_STORE);
  } catch (cause) {
    throw new TransactionFailed(cause, true);
  }
}

/** Saves the browser finding out that no more requests come. */
function commit(transaction: IDBTransaction): void {
  try {
    transaction.commit?.();
  } catch {
    // It is over, or about to be: its events tell.
  }
}

/** Whether that was possible: then nothing of it is kept. */
function abort(transaction: IDBTransaction): boolean {
  try {
    transaction.abort();
    return true;
  } catch {
    return false;
  }
}
