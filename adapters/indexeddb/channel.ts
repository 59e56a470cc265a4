// What stores of one place say to each other, in all tabs and workers: what became durable, who wants the lease, and that
// its holder is alive. Nothing depends on a message arriving: they save time.
import type { Change, RowKind } from "../../src/port.ts";
import { newLife } from "./frame.ts";
import { databaseName } from "./layout.ts";
import type { Platform } from "./platform.ts";

export type Message =
  | { readonly type: "change"; readonly kinds: readonly RowKind[]; readonly executionIds: readonly string[] | null }
  /** Somebody waits for the lease. */
  | { readonly type: "want"; readonly from: string }
  /** The holder is alive, and has work to do. */
  | { readonly type: "working"; readonly from: string };

const ALL_KINDS: readonly RowKind[] = ["executions", "outbox", "processed_events", "timers", "spawns", "trace"];

/** Messages cost the commits that follow each other a tenth of their time, and few pages are painted more often. */
const APART_MS = 16;

/** Somewhere to look, anywhere. */
export const ANY_CHANGE: Change = { kinds: ALL_KINDS, executionIds: null };

export class Channel {
  /** For messages about the lease: unlike every other store's. */
  readonly self: string = newLife().join("-");
  readonly #platform: Platform;
  readonly #name: string;
  #channel: BroadcastChannel | null = null;
  readonly #hears: Set<(message: Message) => void> = new Set();
  /** What became durable and was not said yet. */
  #untold: Change | null = null;
  /** When something was said last. */
  #toldAt = -Infinity;

  constructor(platform: Platform, place: string) {
    this.#platform = platform;
    this.#name = databaseName(place);
    this.#open();
  }

  /** The page may stop. Browsers give up a page that they keep as soon as there is a message for it. */
  suspend(): void {
    this.flush();
    this.#channel?.close();
    this.#channel = null;
  }

  resume(): void {
    if (this.#channel === null) this.#open();
    this.flush();
  }

  /** Whether anybody can be heard. */
  get works(): boolean {
    return this.#channel !== null;
  }

  /** Never throws. */
  post(message: Message): void {
    try {
      this.#channel?.postMessage(message);
    } catch {
      // It is closed: so is the store.
    }
  }

  /** Says it soon: the next commit need not wait for that. What is announced in quick succession is one message. */
  announce(change: Change): void {
    if (this.#untold !== null) {
      this.#untold = merged(this.#untold, change);
      return;
    }
    this.#untold = change;
    const left = this.#toldAt + APART_MS - this.#platform.now();
    // Timers of hidden pages are late.
    if (left <= 0 || this.#platform.isHidden()) this.#platform.soon(() => this.flush());
    else this.#platform.after(left, () => this.flush());
  }

  /** Says what was announced. */
  flush(): void {
    // While nobody can be told it is kept.
    if (this.#untold === null || this.#channel === null) return;
    const { kinds, executionIds } = this.#untold;
    this.#untold = null;
    this.#toldAt = this.#platform.now();
    this.post({ type: "change", kinds, executionIds });
  }

  listen(hear: (message: Message) => void): () => void {
    this.#hears.add(hear);
    return () => this.#hears.delete(hear);
  }

  close(): void {
    this.flush();
    this.#hears.clear();
    this.#channel?.close();
    this.#channel = null;
  }

  #open(): void {
    this.#channel = this.#platform.channel(this.#name);
    this.#channel?.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      const message = understood(data);
      if (message === null) return;
      for (const hear of this.#hears) hear(message);
    });
  }
}

/** Longer lists help nobody. */
const MOST_IDS = 1000;

function merged(a: Change, b: Change): Change {
  const ids =
    a.executionIds === null || b.executionIds === null ? null : new Set([...a.executionIds, ...b.executionIds]);
  return {
    kinds: [...new Set([...a.kinds, ...b.kinds])],
    executionIds: ids === null || ids.size > MOST_IDS ? null : [...ids],
  };
}

/** A tab with another version of the app may say other things. */
function understood(data: unknown): Message | null {
  if (typeof data !== "object" || data === null || !("type" in data)) return null;
  const message = data as Partial<Record<"type" | "from" | "kinds" | "executionIds", unknown>>;
  if (message.type === "change") {
    const { kinds, executionIds } = message;
    const ids = Array.isArray(executionIds) && executionIds.every((id) => typeof id === "string");
    const known = Array.isArray(kinds) && kinds.every((kind) => ALL_KINDS.includes(kind as RowKind));
    return { type: "change", ...(known && (ids || executionIds === null) ? (message as Change) : ANY_CHANGE) };
  }
  if ((message.type !== "want" && message.type !== "working") || typeof message.from !== "string") return null;
  return { type: message.type, from: message.from };
}
