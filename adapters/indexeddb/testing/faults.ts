// An IndexedDB in which whatever can happen may go wrong: every open, transaction, request and commit is a step, and a
// test says which step meets which fault. Around fake-indexeddb, whose objects it changes.
import { forceCloseDatabase } from "fake-indexeddb";
import type { Clock } from "./clock.ts";

/** What can go wrong, at each kind of step. */
export const FAULTS = {
  open: ["throws", "denied", "fails", "quota", "hangs"],
  begin: ["throws"],
  request: ["throws", "fails", "hangs", "loses the connection"],
  commit: [
    "aborts without a reason",
    "aborts for the quota",
    ...["is lost and kept", "is lost and gone", "hangs and is kept", "hangs and is gone"],
  ],
} as const;

export type StepKind = keyof typeof FAULTS;

/** Which fault a step meets; null for none. */
export type Plan = (kind: StepKind, step: number) => string | null;

const dom = (name: string): DOMException => new DOMException("injected", name);

/** The parts of fake-indexeddb's objects that are changed. */
type Changeable<T> = { -readonly [key in keyof T]: T[key] };

export class FaultyIndexedDb {
  plan: Plan = () => null;
  /** The steps so far, in their order. */
  readonly steps: StepKind[] = [];
  /** Connections that are open, or were. */
  readonly connections: IDBDatabase[] = [];
  readonly #inner: IDBFactory;
  readonly #clock: Clock;

  constructor(inner: IDBFactory, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  get factory(): IDBFactory {
    const open = (name: string, version?: number): IDBOpenDBRequest => this.#open(name, version);
    const deleteDatabase = (name: string): IDBOpenDBRequest => this.#inner.deleteDatabase(name);
    return { open, deleteDatabase } as unknown as IDBFactory;
  }

  /** All connections are lost, as when the site's data is cleared or the browser's server dies. */
  lose(): void {
    for (const db of this.connections.splice(0)) forceCloseDatabase(db as never);
  }

  #step(kind: StepKind): string | null {
    this.#clock.touch();
    this.steps.push(kind);
    return this.plan(kind, this.steps.length - 1);
  }

  #open(name: string, version?: number): IDBOpenDBRequest {
    const fault = this.#step("open");
    if (fault === "throws") throw dom("SecurityError");
    const request = this.#inner.open(name, version) as Changeable<IDBOpenDBRequest>;
    const dispatch = request.dispatchEvent.bind(request);
    request.dispatchEvent = (event: Event): boolean => {
      this.#clock.touch();
      if (fault === null) {
        if (event.type === "success") this.#watch(request.result);
        return dispatch(event);
      }
      // A database that would be made is not.
      if (event.type === "upgradeneeded") request.transaction?.abort();
      if (fault === "hangs") return true;
      if (event.type === "success") request.result.close();
      if (event.type !== "success" && event.type !== "error") return true;
      const names: Record<string, string> = { denied: "InvalidStateError", quota: "QuotaExceededError" };
      Object.defineProperty(request, "error", { value: dom(names[fault] ?? "UnknownError") });
      return dispatch(asError(event));
    };
    return request;
  }

  #watch(connection: IDBDatabase): void {
    const db = connection as Changeable<IDBDatabase>;
    this.connections.push(db);
    const begin = db.transaction.bind(db);
    db.transaction = ((...given: Parameters<typeof begin>) => {
      if (this.#step("begin") === "throws") throw dom("InvalidStateError");
      const transaction = begin(...given) as Changeable<IDBTransaction>;
      this.#watchTransaction(transaction, db);
      return transaction;
    }) as typeof db.transaction;
  }

  #watchTransaction(transaction: Changeable<IDBTransaction>, db: IDBDatabase): void {
    const dispatch = transaction.dispatchEvent.bind(transaction);
    const objectStore = transaction.objectStore.bind(transaction);
    const commit = transaction.commit.bind(transaction);
    const abort = transaction.abort.bind(transaction);
    /** Nothing more is heard of it. */
    let silent = false;
    const fallSilent = (): void => {
      silent = true;
      abort();
    };
    const lose = (): void => {
      Object.defineProperty(transaction, "error", { value: dom("AbortError") });
      abort();
      forceCloseDatabase(db as never);
    };
    transaction.dispatchEvent = (event: Event): boolean => {
      this.#clock.touch();
      return silent || dispatch(event);
    };
    transaction.objectStore = (name: string): IDBObjectStore => {
      const store = objectStore(name) as unknown as Record<string, (...given: unknown[]) => IDBRequest>;
      for (const method of ["get", "getKey", "getAll", "add", "put", "delete"]) {
        const call = store[method]!.bind(store);
        store[method] = (...given: unknown[]) => {
          const fault = this.#step("request");
          if (fault === "throws") throw dom("TransactionInactiveError");
          const request = call(...given);
          if (fault === "fails") failRequest(request, transaction, abort);
          if (fault === "hangs") fallSilent();
          if (fault === "loses the connection") lose();
          if (fault === "hangs" || silent) request.dispatchEvent = () => true;
          return request;
        };
      }
      return store as unknown as IDBObjectStore;
    };
    transaction.abort = () => {
      if (!silent) abort();
    };
    /** As in a browser when it is past its commit: it cannot be taken back, and how it ended is not told. */
    const cannotAbort = (): void => {
      transaction.abort = () => {
        throw dom("InvalidStateError");
      };
    };
    transaction.commit = () => {
      const fault = this.#step("commit");
      if (fault === null) return commit();
      if (fault === "aborts without a reason") return abort();
      if (fault === "aborts for the quota") {
        Object.defineProperty(transaction, "error", { value: dom("QuotaExceededError") });
        return abort();
      }
      if (fault === "is lost and gone") return lose();
      cannotAbort();
      if (fault === "hangs and is gone") return fallSilent();
      transaction.dispatchEvent = (event: Event): boolean => {
        this.#clock.touch();
        if (event.type !== "complete" || fault === "hangs and is kept") return true;
        Object.defineProperty(transaction, "error", { value: dom("AbortError") });
        forceCloseDatabase(db as never);
        return dispatch(retyped(event, "abort"));
      };
      commit();
    };
  }
}

/** A request that fails takes its transaction with it. */
function failRequest(request: IDBRequest, transaction: IDBTransaction, abort: () => void): void {
  const dispatch = request.dispatchEvent.bind(request);
  (request as Changeable<IDBRequest>).dispatchEvent = (event: Event): boolean => {
    if (event.type === "success") {
      Object.defineProperty(request, "error", { value: dom("UnknownError") });
      dispatch(asError(event));
      Object.defineProperty(transaction, "error", { value: dom("UnknownError") });
      try {
        abort();
      } catch {
        // The page was faster.
      }
      return true;
    }
    return dispatch(event);
  };
}

/** fake-indexeddb's events are plain objects. */
function retyped(event: Event, type: string): Event {
  Object.defineProperty(event, "type", { value: type });
  return event;
}

function asError(event: Event): Event {
  Object.defineProperty(event, "bubbles", { value: true });
  Object.defineProperty(event, "cancelable", { value: true });
  return retyped(event, "error");
}
