// A SQLite database over an Image: statements prepared once and kept, transactions, and what a transaction wrote as a
// page delta. Synchronous throughout. May not know what a store or an adapter is.
import { SqlFailed } from "../errors.ts";
import type { LoadedImage, PageDelta, Pages } from "../port.ts";
import type { Engine, Pointer } from "./engine.ts";
import { Image } from "./image.ts";
import type { MountedFile } from "./vfs.ts";

export type Value = string | number | null;

/** The row a statement stands on. Columns count from 0. */
export interface Row {
  /** A column as text, or null. Bytes that are not UTF-8 throw `SqlFailed`, unless `lossy`. */
  text(column: number, lossy?: boolean): string | null;
  /** A column as a number, or null. An INTEGER beyond 2^53 comes out unsafe (`Number.isSafeInteger` is false). */
  number(column: number): number | null;
}

const OK = 0;
const ROW = 100;
const DONE = 101;
const TYPE_NULL = 5;
const NOMEM = 7;
const CORRUPT = 11;
/** Longer texts get memory of their own, which goes back; shorter ones share an arena, which stays. */
const ARENA_BYTES = 64 * 1024;

/** What the engine is told once, at open. Durability is the adapter's; nothing may reach storage before COMMIT. */
const SETUP = `
  PRAGMA journal_mode=MEMORY;
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

  /** The pages as they are now. */
  get pages(): Pages {
    return this.#image;
  }

  /** Runs statements that give no rows. */
  exec(sql: string): void {
    const { sqlite } = this.#engine;
    const text = sqlite.stringToNewUTF8(sql);
    const result = sqlite._sqlite3_exec(this.#db, text, 0, 0, 0);
    sqlite._free(text);
    if (result !== OK) throw this.#failure();
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
    const statement = new Statement(this.#engine, pointer, this.#arena, () => this.#failure());
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

  /** Runs `work` in one transaction of SQLite's. When it throws, memory is as before. */
  transaction<T>(work: () => T): T {
    this.#begin.run([]);
    this.#inTransaction = true;
    try {
      const result = work();
      this.#commit.run([]);
      this.#inTransaction = false;
      return result;
    } catch (error) {
      this.#abandon();
      throw error;
    }
  }

  /** What was written since `settle`, or null. The bytes are views: use them before the next statement. */
  delta(): PageDelta | null {
    return this.#image.delta();
  }

  /** What was written is durable. */
  settle(): void {
    this.#image.settle();
  }

  /** What was written is not durable and never will be: back to the last `settle`. */
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
    if (this.#image.delta() !== null) this.undo();
  }

  #failure(): SqlFailed {
    const { sqlite } = this.#engine;
    return new SqlFailed(
      sqlite._sqlite3_extended_errcode(this.#db),
      sqlite.UTF8ToString(sqlite._sqlite3_errmsg(this.#db)),
    );
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossyDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A prepared statement. Made by `Database.prepare`, finalised by `Database.close`. */
export class Statement implements Row {
  readonly #engine: Engine;
  readonly #pointer: Pointer;
  readonly #arena: Pointer;
  readonly #failure: () => SqlFailed;
  /** Memory of long texts bound now. */
  #loose: Pointer[] = [];

  constructor(engine: Engine, pointer: Pointer, arena: Pointer, failure: () => SqlFailed) {
    this.#engine = engine;
    this.#pointer = pointer;
    this.#arena = arena;
    this.#failure = failure;
  }

  /** Runs to the end, ignoring rows. */
  run(values: readonly Value[]): void {
    const { sqlite } = this.#engine;
    this.#bind(values);
    let result = sqlite._sqlite3_step(this.#pointer);
    while (result === ROW) result = sqlite._sqlite3_step(this.#pointer);
    this.#finish(result);
  }

  /** What `read` makes of the first row, or null when there is none. */
  first<T>(values: readonly Value[], read: (row: Row) => T): T | null {
    return this.all(values, read, 1)[0] ?? null;
  }

  /** What `read` makes of each row, up to `limit` rows. */
  all<T>(values: readonly Value[], read: (row: Row) => T, limit: number = Infinity): T[] {
    const { sqlite } = this.#engine;
    const rows: T[] = [];
    this.#bind(values);
    let result = sqlite._sqlite3_step(this.#pointer);
    try {
      while (result === ROW && rows.length < limit) {
        rows.push(read(this));
        result = rows.length < limit ? sqlite._sqlite3_step(this.#pointer) : DONE;
      }
    } catch (error) {
      this.#finish(DONE);
      throw error;
    }
    this.#finish(result);
    return rows;
  }

  text(column: number, lossy = false): string | null {
    const { sqlite, memory } = this.#engine;
    const pointer = sqlite._sqlite3_column_text(this.#pointer, column);
    if (pointer === 0) return null;
    const length = sqlite._sqlite3_column_bytes(this.#pointer, column);
    const bytes = memory.bytes.subarray(pointer, pointer + length);
    if (lossy) return lossyDecoder.decode(bytes);
    try {
      return decoder.decode(bytes);
    } catch {
      throw new SqlFailed(CORRUPT, "a stored text is not UTF-8");
    }
  }

  number(column: number): number | null {
    const { sqlite } = this.#engine;
    if (sqlite._sqlite3_column_type(this.#pointer, column) === TYPE_NULL) return null;
    return sqlite._sqlite3_column_double(this.#pointer, column);
  }

  finalize(): void {
    this.#release();
    this.#engine.sqlite._sqlite3_finalize(this.#pointer);
  }

  #bind(values: readonly Value[]): void {
    const { sqlite, memory } = this.#engine;
    let at = 0;
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (typeof value === "string") {
        // Three bytes a UTF-16 unit at the most.
        if (value.length * 3 > ARENA_BYTES - at) {
          this.#bindLoose(i + 1, value);
          continue;
        }
        const pointer = this.#arena + at;
        const bytes = writeText(memory.bytes, pointer, value);
        sqlite._sqlite3_bind_text(this.#pointer, i + 1, pointer, bytes, 0);
        at += bytes;
      } else if (typeof value === "number") {
        if ((value | 0) === value) sqlite._sqlite3_bind_int(this.#pointer, i + 1, value);
        else sqlite._sqlite3_bind_double(this.#pointer, i + 1, value);
      }
    }
  }

  #bindLoose(index: number, value: string): void {
    const { sqlite, memory } = this.#engine;
    const bytes = encoder.encode(value);
    const pointer = sqlite._malloc(bytes.length);
    if (pointer === 0) throw new SqlFailed(NOMEM, "out of memory");
    this.#loose.push(pointer);
    memory.bytes.set(bytes, pointer);
    sqlite._sqlite3_bind_text(this.#pointer, index, pointer, bytes.length, 0);
  }

  #finish(result: number): void {
    const { sqlite } = this.#engine;
    // Read the failure first: resetting may overwrite the message.
    const failure = result === DONE ? null : this.#failure();
    sqlite._sqlite3_reset(this.#pointer);
    // The bound texts are ours and about to be reused; and what is not bound next time must be NULL.
    sqlite._sqlite3_clear_bindings(this.#pointer);
    this.#release();
    if (failure !== null) throw failure;
  }

  #release(): void {
    if (this.#loose.length === 0) return;
    for (const pointer of this.#loose) this.#engine.sqlite._free(pointer);
    this.#loose = [];
  }
}

/** Writes UTF-8 at `at` and returns the bytes written. Short ASCII, which ids are, is faster by hand. */
function writeText(target: Uint8Array, at: number, text: string): number {
  if (text.length <= 48) {
    let i = 0;
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) break;
      target[at + i] = code;
    }
    if (i === text.length) return i;
  }
  return encoder.encodeInto(text, target.subarray(at, at + text.length * 3)).written;
}
