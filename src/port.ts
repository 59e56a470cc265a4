// The adapter port: where an image lives between runs. An adapter is a commit log with a base. It never sees SQL, and
// the store never sees files. This module holds types, and the little that everybody does with them; it imports nothing.

/** Images are handed over in chunks of this many bytes, so that a large one is never copied into one piece. */
export const CHUNK_BYTES: number = 1024 * 1024;

/** The pages one transaction changed, with every page between the old end and the new one. */
export interface PageDelta {
  /** Bytes in a page: a power of two from 512 to 65536. */
  readonly pageSize: number;
  /** Pages in the database after the transaction. */
  readonly pageCount: number;
  /** Page number (from 1) → its new bytes, in ascending order. */
  readonly pages: ReadonlyMap<number, Uint8Array>;
  /**
   * What a page of `pages` held before; null for one that lay past the end. Not there when that is not known. For
   * adapters that store what changed, in the same turn in which they got the delta.
   */
  readonly before?: (number: number) => Uint8Array | null;
}

/** A whole database. */
export interface LoadedImage {
  readonly pageSize: number;
  readonly pageCount: number;
  /** The pages one after another, cut into pieces of `CHUNK_BYTES`; the last one is padded. */
  readonly chunks: Uint8Array[];
}

/** A place in an adapter's log. Only the adapter that made it can read it. */
export interface Position {
  readonly adapter: string;
}

/** What others committed since a position. */
export type News =
  | { readonly position: Position; readonly delta: PageDelta; readonly image?: never }
  | { readonly position: Position; readonly image: LoadedImage; readonly delta?: never };

/**
 * The pages as the store has them now, all of them durable: what a checkpoint copies from. They may be kept: they go on
 * with the store, as it takes what `append` and `pull` return.
 */
export interface Pages {
  readonly pageSize: number;
  readonly pageCount: number;
  page(number: number): Uint8Array;
}

/** The pages of an image, as it holds them. */
export function pagesOf({ pageSize, pageCount, chunks }: LoadedImage): Pages {
  const perChunk = CHUNK_BYTES / pageSize;
  return {
    pageSize,
    pageCount,
    page(number) {
      const at = ((number - 1) % perChunk) * pageSize;
      return chunks[Math.floor((number - 1) / perChunk)]!.subarray(at, at + pageSize);
    },
  };
}

/** The tables, as those who watch them know them. */
export type RowKind = "executions" | "outbox" | "processed_events" | "timers" | "spawns" | "trace";

/** What became durable, for those who watch: where to look, never what is there. */
export interface Change {
  /** The kinds of rows that changed. */
  readonly kinds: readonly RowKind[];
  /** The Executions that they belong to; null when it may be any. */
  readonly executionIds: readonly string[] | null;
}

/** Something that is not as it should be, found by `verify`. Never what the user stored. */
export interface Problem {
  /**
   * "storage": what is stored is not what is in memory, or its checksums fail. "sqlite": SQLite's own check. "schema":
   * tables or indexes. "row": columns of another type. "record": stored JSON that cannot be read. "version": text and
   * column tell another version or id. "trace": steps that do not follow each other.
   */
  readonly kind: "storage" | "sqlite" | "schema" | "row" | "record" | "version" | "trace";
  /** A table, or a part of the storage ("base", "log"). */
  readonly where: string;
  /** The id of the Execution that the row belongs to. */
  readonly id: string | null;
  /** The row's number: `seq`, the index of a trace step, or SQLite's rowid. */
  readonly row: number | null;
  readonly page: number | null;
  /** Bytes from the start of the part. */
  readonly offset: number | null;
  /** In words. */
  readonly problem: string;
}

/** A problem of a part; what is not told of it is not known. */
export function problemIn(kind: Problem["kind"], where: string, problem: string, more: Partial<Problem> = {}): Problem {
  return { kind, where, id: null, row: null, page: null, offset: null, ...more, problem };
}

/** What is left of a place that may be damaged, read without judging it: what `salvage` works on. */
export interface Remains {
  /** For messages. */
  readonly place: string;
  readonly pageSize: number;
  readonly pageCount: number;
  /** A page as the last whole transaction left it; null when it is lost. Of `pageSize` bytes. */
  page(number: number): Uint8Array | null;
  /** What was found missing or damaged on the way. */
  readonly problems: readonly Problem[];
}

/** What an adapter can do. Tests take their skips from here and from nothing else. */
export interface Supports {
  /** Survives the process: what was committed is there when the same place is opened again. */
  readonly durable: boolean;
  /** Several stores may have the same place open, in this process or in others. */
  readonly shared: boolean;
  /** `durability: "strict"` outlives a power cut. */
  readonly strict: boolean;
}

/**
 * Where an image lives, flushed synchronously.
 *
 * The store calls: `load` once; then `pull` before every read; `lock`, `pull`, `append`, `checkpoint`, `release` for
 * every write; `close` once. Whatever it throws reaches the caller as it is when it is a `PerdureError`.
 */
export interface SyncAdapter {
  readonly synchronous: true;
  /** The kind of adapter: "memory", "file". */
  readonly name: string;
  /** Where the image lives, for messages: a path, or ":memory:". */
  readonly place: string;
  readonly supports: Supports;
  /** Base and log put together. A place that is new gives `pageCount` 0. */
  load(): LoadedImage & { readonly position: Position };
  /**
   * What others committed after `since`, where the store stands with `pages`; or null. What it returns is durable.
   * Cheap when there is nothing.
   */
  pull(since: Position, pages: Pages): News | null;
  /** Takes the write lease, waiting up to the adapter's `busyTimeoutMs`. Returns what gives it back. */
  lock(): () => void;
  /**
   * Makes a delta durable, whole or not at all, and returns the position after it. Needs the lease. Refuses with
   * `Fenced` when somebody else appended after `after`. What it throws means: not there, and never will be.
   */
  append(delta: PageDelta, after: Position): Position;
  /**
   * Called with the lease held after every append: moves some of the log into the base when that is worthwhile. The
   * commit is durable already, so a failure is no failure of the commit: it is kept for the next try and never thrown.
   */
  checkpoint(pages: Pages): void;
  /** Gives everything back. Called once, without the lease; `pages` is null when the store never got to work. */
  close(pages: Pages | null): void;
  /** Tells other stores on this place what is durable now. Never throws. Without it they find out when they read. */
  announce?(change: Change): void;
  /** Has `listener` told what other stores announced. Returns what ends it. */
  watch?(listener: (change: Change) => void): () => void;
  /**
   * Reads storage anew and holds it against `pages`, which is what the store has after a `pull`; tells what differs, and
   * what fails its checksum. Called with the lease held. Changes nothing, and throws only what is no answer (no
   * permission). Without it only the image in memory is verified.
   */
  verify?(pages: Pages): readonly Problem[];
}

/** The same, where flushing waits. */
export interface AsyncAdapter {
  readonly synchronous: false;
  readonly name: string;
  readonly place: string;
  readonly supports: Supports;
  load(): Promise<LoadedImage & { readonly position: Position }>;
  pull(since: Position, pages: Pages): Promise<News | null>;
  lock(): Promise<() => void>;
  /** The store goes on meanwhile, in memory; the delta's bytes stay as they are until this settles. */
  append(delta: PageDelta, after: Position): Promise<Position>;
  checkpoint(pages: Pages): Promise<void>;
  close(pages: Pages | null): Promise<void>;
  /** Tells other stores on this place what is durable now. Never throws. Without it they find out when they read. */
  announce?(change: Change): void;
  /** Has `listener` told what other stores announced. Returns what ends it. */
  watch?(listener: (change: Change) => void): () => void;
  /**
   * Reads storage anew and holds it against `pages`, which is what the store has after a `pull`; tells what differs, and
   * what fails its checksum. Called with the lease held. Changes nothing, and throws only what is no answer (no
   * permission). Without it only the image in memory is verified.
   */
  verify?(pages: Pages): readonly Problem[] | Promise<readonly Problem[]>;
}

/** How to reach a place by name. For an adapter made by hand, give these to its own factory. */
export interface PlaceOptions {
  /** "strict" (default): a commit outlives a power cut. "relaxed": it outlives the process. */
  readonly durability?: "strict" | "relaxed";
  /** Milliseconds to wait for another writer before `StoreBusy`. Default 5000. */
  readonly busyTimeoutMs?: number;
  /** Refuse to start fresh when nothing is there. Default false. */
  readonly mustExist?: boolean;
}
