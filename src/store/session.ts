// What both shells do with an open database, apart from waiting: the core over it, its place in the adapter's log,
// taking in what others wrote, and turning SQLite's complaints into errors about the place.
import { Database } from "../engine/database.ts";
import { loadEngine } from "../engine/engine.ts";
import { type DamageSite, ImageCorrupt, SqlFailed, StorageRefused } from "../errors.ts";
import { findDamage } from "../format/damage.ts";
import {
  type LoadedImage,
  type News,
  type PageDelta,
  type Pages,
  pagesOf,
  type Position,
  type Problem,
} from "../port.ts";
import { Core } from "./core.ts";
import type { StoreOptions } from "./options.ts";
import { checkSchema, createMissing, isComplete } from "./schema.ts";
import { verifyDatabase } from "./verify.ts";

const DEFAULT_TRACE_MAX = 200;
const DEFAULT_PAGE_SIZE = 4096;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export class Session {
  readonly #db: Database;
  readonly #place: string;
  readonly #traceMax: number;
  #core: Core | null = null;
  #position: Position;
  /** Why nothing can be done with the place any more. */
  #refusal: StorageRefused | null = null;

  private constructor(db: Database, place: string, traceMax: number, position: Position) {
    this.#db = db;
    this.#place = place;
    this.#traceMax = traceMax;
    this.#position = position;
  }

  /** Opens what an adapter loaded, and refuses what is not ours. Writes nothing. */
  static async open(
    place: string,
    loaded: LoadedImage & { readonly position: Position },
    { traceMax, ...engineOptions }: StoreOptions,
  ): Promise<Session> {
    const engine = await loadEngine(engineOptions);
    return translating(place, pagesOf(loaded), () => {
      const db = new Database(engine, loaded.pageCount === 0 ? { ...loaded, pageSize: DEFAULT_PAGE_SIZE } : loaded);
      try {
        checkSchema(db, place);
        return new Session(db, place, traceMax === undefined ? DEFAULT_TRACE_MAX : (traceMax ?? 0), loaded.position);
      } catch (error) {
        db.close();
        throw error;
      }
    });
  }

  /** Whether `createSchema` has something to do. */
  get incomplete(): boolean {
    return !isComplete(this.#db);
  }

  /** Creates the tables and indexes that are missing. Call it in a transaction. */
  createSchema(): void {
    createMissing(this.#db);
  }

  /** The operations. The schema must be complete. */
  get core(): Core {
    this.#core ??= new Core(this.#db, this.#traceMax);
    return this.#core;
  }

  /** Where the store stands in the adapter's log. Throws when the place is another one now. */
  get position(): Position {
    if (this.#refusal !== null) throw this.#refusal;
    return this.#position;
  }

  get pages(): Pages {
    return this.#db.pages;
  }

  /** Takes in what others committed; false when there was nothing. */
  take(news: News | null): boolean {
    if (news === null) return false;
    this.#core?.forget();
    if (news.image !== undefined && news.image.pageSize !== this.pages.pageSize) {
      // For good: the adapter goes on from there, and these pages never will.
      this.#refusal = new StorageRefused(
        "storage-replaced",
        this.#place,
        "its page size is another one now; open it again",
      );
      throw this.#refusal;
    }
    if (news.delta === undefined) this.#db.replace(news.image);
    else this.#db.apply(news.delta);
    this.#position = news.position;
    return true;
  }

  /** The pages as a file of their own, for any SQLite: in rollback mode, so that it needs no log beside it. */
  exportDatabase(): Uint8Array {
    const { pageSize, pageCount } = this.pages;
    const file = new Uint8Array(pageSize * pageCount);
    for (let number = 1; number <= pageCount; number++) file.set(this.pages.page(number), (number - 1) * pageSize);
    return file;
  }

  /** What is wrong with the database, up to `limit` things. */
  verify(limit: number): Problem[] {
    return verifyDatabase(this.#db, limit);
  }

  /** Runs reads. */
  read<T>(work: () => T): T {
    return translating(this.#place, this.pages, work);
  }

  /** Runs `work` in one transaction; when it throws, memory is as before. */
  transaction<T>(work: () => T): T {
    try {
      return translating(this.#place, this.pages, () => this.#db.transaction(work));
    } catch (error) {
      this.#core?.forget();
      throw error;
    }
  }

  /** What waits to be made durable, or null. */
  delta(): PageDelta | null {
    return this.#db.delta();
  }

  /** The same, to be flushed while transactions go on: what they write is for the next flush. */
  beginFlush(): PageDelta | null {
    const delta = this.#db.delta();
    if (delta !== null) this.#db.beginFlush();
    return delta;
  }

  /** Whether something is on its way to storage. */
  get isFlushing(): boolean {
    return this.#db.isFlushing;
  }

  /** It is durable, up to `position`. */
  flushed(position: Position): void {
    this.#position = position;
    this.#db.settle();
  }

  /** It is not durable and never will be, nor what was written since it began to be flushed. */
  undo(): void {
    this.#core?.forget();
    this.#db.undo();
  }

  /** The pages to leave the place with; null when they are not that place's any more. */
  close(): Pages | null {
    this.#db.close();
    return this.#refusal === null ? this.pages : null;
  }
}

function translating<T>(place: string, pages: Pages, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SqlFailed)) throw error;
    const primary = error.resultCode & 0xff;
    if (primary === SQLITE_CORRUPT) {
      throw new ImageCorrupt(place, "SQLite finds it malformed", { cause: error, where: siteOf(pages) });
    }
    if (primary !== SQLITE_NOTADB) throw error;
    throw new StorageRefused("not-a-database", place, "SQLite does not take it for a database", { cause: error });
  }
}

/** The first malformed page. SQLite does not tell which it is. */
function siteOf(pages: Pages): DamageSite | null {
  const page = findDamage(pages);
  return page === null ? null : { part: "base", page, offset: (page - 1) * pages.pageSize };
}
