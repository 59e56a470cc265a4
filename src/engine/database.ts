// A SQLite database over an Image: statements prepared once and kept, transactions, and what a transaction wrote as a
// page delta. Synchronous throughout. May not know what a store or an adapter is.
import { SqlFailed } from "../errors.ts";
import type { LoadedImage, PageDelta, Pages } from "../port.ts";
import type { Engine, Pointer } from "./engine.ts";
import { Image } from "./image.ts";
import { ARENA_BYTES, Statement } from "./statement.ts";
import type { MountedFile } from "./vfs.ts";

const OK = 0;

/**
 * What the engine is told once, at open. Durability is the adapter's; nothing may reach storage before COMMIT. There is no
 * journal, since the image takes back whatever was written; copying pages into one was an eighth of a commit.
 */
const SETUP = `
  PRAGMA journal_mode=OFF;
  PRAGMA synchronous=OFF;
  PRAGMA cache_spill=OFF;
  PRAGMA temp_store=MEMORY;
  PRAGMA trusted_schema=OFF;
  PRAGMA cell_size_check=ON;
`;

export class Database {
  readonly #engine: Engine;
  readonly #image: Image;
  readonly #file: MountedFile;
  readonly #name: string;
  readonly #db: Pointer;
  readonly #arena: Pointer;
  readonly #statements: Set<Statement> = new Set();
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  #inTransaction = false;
  /** Why the transaction cannot be committed: without a journal, a write that failed may have left half of what it did. */
  #broken: SqlFailed | null = null;
  #closed = false;

  /** Opens the image. Throws `SqlFailed` when SQLite does not take it for a database. */
  constructor(engine: Engine, loaded: LoadedImage) {
    const { sqlite, memory, vfs } = engine;
    this.#engine = engine;
    this.#image = new Image(loaded);
    const { name, file } = vfs.mount(this.#image);
    this.#name = name;
    this.#file = file;
    this.#arena = sqlite._malloc(ARENA_BYTES);
    const text = sqlite.stringToNewUTF8(name);
    const out = sqlite._malloc(4);
    const result = sqlite._sqlite3_open(text, out);
    this.#db = memory.view.getInt32(out, true);
    sqlite._free(text);
    sqlite._free(out);
    try {
      if (result !== OK) throw this.#failure();
      this.exec(`PRAGMA page_size=${loaded.pageSize};${SETUP}`);
      this.#begin = this.prepare("BEGIN IMMEDIATE");
      this.#commit = this.prepare("COMMIT");
      this.#rollback = this.prepare("ROLLBACK");
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The pages as of the last `settle`. */
  get pages(): Pages {
    return this.#image.durable;
  }

  /** Runs statements that give no rows. */
  exec(sql: string): void {
    const { sqlite } = this.#engine;
    const text = sqlite.stringToNewUTF8(sql);
    const result = sqlite._sqlite3_exec(this.#db, text, 0, 0, 0);
    sqlite._free(text);
    if (result !== OK) throw this.#failedWrite();
  }

  /** Compiles a statement for the life of the database. */
  prepare(sql: string): Statement {
    const { sqlite, memory } = this.#engine;
    const text = sqlite.stringToNewUTF8(sql);
    const out = sqlite._malloc(4);
    const result = sqlite._sqlite3_prepare_v2(this.#db, text, -1, out, 0);
    const pointer = memory.view.getInt32(out, true);
    sqlite._free(text);
    sqlite._free(out);
    if (result !== OK) throw this.#failure();
    const statement = new Statement(this.#engine, pointer, this.#arena, {
      read: () => this.#failure(),
      write: () => this.#failedWrite(),
    });
    this.#statements.add(statement);
    return statement;
  }

  /** Finalises a statement before the database is closed. */
  discard(statement: Statement): void {
    if (this.#statements.delete(statement)) statement.finalize();
  }

  /** Rows the last INSERT, UPDATE or DELETE changed. */
  changes(): number {
    return this.#engine.sqlite._sqlite3_changes(this.#db);
  }

  /** Runs `work` in one transaction of SQLite's. When it throws, or a write of it failed, memory is as before. */
  transaction<T>(work: () => T): T {
    this.#begin.run([]);
    this.#inTransaction = true;
    this.#broken = null;
    try {
      const result = work();
      this.#refuseBroken();
      this.#commit.run([]);
      this.#inTransaction = false;
      return result;
    } catch (error) {
      this.#abandon();
      throw error;
    }
  }

  /**
   * What was written since the last flush began, or null. The bytes are views: use them before the next statement, or
   * call `beginFlush` and use them until it is settled or undone.
   */
  delta(): PageDelta | null {
    return this.#image.delta();
  }

  /** What was written is being flushed. Transactions may run meanwhile; what they write belongs to the next flush. */
  beginFlush(): void {
    this.#image.beginFlush();
  }

  get isFlushing(): boolean {
    return this.#image.isFlushing;
  }

  /** What is being flushed is durable; when nothing is, what was written. */
  settle(): void {
    this.#image.settle();
  }

  /** What was written is not durable and never will be, nor what is being flushed: back to the last `settle`. */
  undo(): void {
    this.#image.undo();
    this.#file.stale = true;
  }

  /** Takes over pages that another writer committed. */
  apply(delta: PageDelta): void {
    this.#image.apply(delta);
    this.#file.stale = true;
  }

  /** Takes over a whole image that was loaded anew. */
  replace(image: LoadedImage): void {
    this.#image.replace(image);
    this.#file.stale = true;
  }

  /** Finalises everything. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { sqlite, vfs } = this.#engine;
    for (const statement of this.#statements) statement.finalize();
    sqlite._sqlite3_close_v2(this.#db);
    sqlite._free(this.#arena);
    vfs.unmount(this.#name);
  }

  /** ROLLBACK, unless SQLite already did it by itself; then the pages, should any have got out. */
  #abandon(): void {
    if (this.#inTransaction) {
      this.#inTransaction = false;
      try {
        this.#rollback.run([]);
      } catch {
        // "no transaction is active": a full or corrupt database rolls back by itself.
      }
    }
    if (this.#image.delta() !== null) this.#image.rollBack();
    // What SQLite has cached it cannot take back without a journal.
    this.#file.stale = true;
  }

  #refuseBroken(): void {
    if (this.#broken !== null) throw this.#broken;
  }

  #failedWrite(): SqlFailed {
    const failure = this.#failure();
    this.#broken ??= failure;
    return failure;
  }

  #failure(): SqlFailed {
    const { sqlite } = this.#engine;
    return new SqlFailed(
      sqlite._sqlite3_extended_errcode(this.#db),
      sqlite.UTF8ToString(sqlite._sqlite3_errmsg(this.#db)),
    );
  }
}
