// A prepared statement: values in, rows out, and its failures as errors. Texts are written into the engine's memory by
// hand, since that is most of the time a commit takes.
import { SqlFailed } from "../errors.ts";
import type { Engine, Pointer } from "./engine.ts";
import type { Row, Value } from "./row.ts";

const ROW = 100;
const DONE = 101;
const TYPE_INTEGER = 1;
const TYPE_NULL = 5;
const NOMEM = 7;
const CORRUPT = 11;
/** Longer texts get memory of their own, which goes back; shorter ones share an arena, which stays. */
export const ARENA_BYTES: number = 64 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossyDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What SQLite says when a statement failed, by what it was run for. */
interface Failures {
  read(): SqlFailed;
  write(): SqlFailed;
}

/** A prepared statement. Made by `Database.prepare`, finalised by `Database.close`. */
export class Statement implements Row {
  readonly #engine: Engine;
  readonly #pointer: Pointer;
  readonly #arena: Pointer;
  readonly #failures: Failures;
  /** Memory of long texts bound now. */
  #loose: Pointer[] = [];

  constructor(engine: Engine, pointer: Pointer, arena: Pointer, failures: Failures) {
    this.#engine = engine;
    this.#pointer = pointer;
    this.#arena = arena;
    this.#failures = failures;
  }

  /** Runs to the end, ignoring rows: what writes. */
  run(values: readonly Value[]): void {
    const { sqlite } = this.#engine;
    this.#bind(values);
    let result = sqlite._sqlite3_step(this.#pointer);
    while (result === ROW) result = sqlite._sqlite3_step(this.#pointer);
    this.#finish(result, "write");
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

  /** Hands each row to `read`, and keeps none. */
  each(values: readonly Value[], read: (row: Row) => void): void {
    const { sqlite } = this.#engine;
    this.#bind(values);
    let result = DONE;
    try {
      result = sqlite._sqlite3_step(this.#pointer);
      for (; result === ROW; result = sqlite._sqlite3_step(this.#pointer)) read(this);
    } catch (error) {
      this.#finish(DONE);
      throw error;
    }
    this.#finish(result);
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

  integer(column: number): number | null {
    const { sqlite } = this.#engine;
    const type = sqlite._sqlite3_column_type(this.#pointer, column);
    if (type === TYPE_NULL) return null;
    const value = sqlite._sqlite3_column_double(this.#pointer, column);
    if (type === TYPE_INTEGER && Number.isSafeInteger(value)) return value;
    throw new SqlFailed(CORRUPT, "a column that must hold an integer holds something else, or one beyond 2^53");
  }

  finalize(): void {
    this.#release();
    this.#engine.sqlite._sqlite3_finalize(this.#pointer);
  }

  #bind(values: readonly Value[]): void {
    try {
      this.#bindAll(values);
    } catch (error) {
      this.#finish(DONE);
      throw error;
    }
  }

  #bindAll(values: readonly Value[]): void {
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

  #finish(result: number, use: keyof Failures = "read"): void {
    const { sqlite } = this.#engine;
    // Read the failure first: resetting may overwrite the message.
    const failure = result === DONE ? null : this.#failures[use]();
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
