// What the adapter needs from where it runs, as values that a test can replace. Everything is looked up when it is used,
// never when this module loads: importing it is safe anywhere.

/** A page that may stop for a while. */
export type Lifecycle =
  /** It may stop after this, and not know for how long. */
  | "suspend"
  /** It goes on, or somebody looks at it again. */
  | "resume";

export interface Platform {
  /** Undefined where there is none. May throw, where a browser forbids even to look. */
  indexedDB(): IDBFactory | undefined;
  /** Whether its transactions can be told to be strict. */
  hasDurability(): boolean;
  /** Undefined where there are none: an insecure context. */
  locks(): LockManager | undefined;
  /** Null where tabs cannot talk. */
  channel(name: string): BroadcastChannel | null;
  /** Every key from `lower` to `upper`. */
  range(lower: IDBValidKey, upper: IDBValidKey): IDBKeyRange;
  /** Milliseconds on a clock that only goes forward. */
  now(): number;
  /** Calls `work` once; what it returns prevents that. */
  after(ms: number, work: () => void): () => void;
  /** Calls `work` in a task of its own, soon, in hidden pages too. */
  soon(work: () => void): void;
  /** Whether nobody can see it: then timers are late. */
  isHidden(): boolean;
  /** Calls `listener` when the page stops or goes on; what it returns ends that. */
  onLifecycle(listener: (event: Lifecycle) => void): () => void;
}

/** The page or worker this runs in. */
export const ownPlatform: Platform = {
  indexedDB: () => globalThis.indexedDB,
  // Browsers ignore an option that they do not know, without a word.
  hasDurability: () => typeof IDBTransaction === "undefined" || "durability" in IDBTransaction.prototype,
  locks: () => globalThis.navigator?.locks,
  channel(name) {
    try {
      return new BroadcastChannel(name);
    } catch {
      // Not there, or forbidden in a frame without an origin.
      return null;
    }
  },
  range: (lower, upper) => IDBKeyRange.bound(lower, upper),
  now: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  soon(work) {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => {
      port1.close();
      work();
    });
    port1.start();
    port2.postMessage(null);
  },
  isHidden: () => globalThis.document?.visibilityState === "hidden",
  onLifecycle(listener) {
    // Workers have neither.
    const page = typeof window === "undefined" ? null : window;
    const document = typeof globalThis.document === "undefined" ? null : globalThis.document;
    const suspend = (): void => listener("suspend");
    const resume = (): void => listener("resume");
    const visible = (): void => {
      if (document?.visibilityState === "visible") listener("resume");
    };
    const events = [
      [page, "pagehide", suspend],
      [page, "pageshow", resume],
      [document, "freeze", suspend],
      [document, "resume", resume],
      [document, "visibilitychange", visible],
    ] as const;
    for (const [target, type, heard] of events) target?.addEventListener(type, heard);
    return () => {
      for (const [target, type, heard] of events) target?.removeEventListener(type, heard);
    };
  },
};
