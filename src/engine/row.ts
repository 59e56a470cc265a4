// What goes into a statement and comes out of it. Types alone: public types lead here, and must not lead on into
// WebAssembly, which some platforms have no types for.

/** What can be bound. */
export type Value = string | number | null;

/** The row a statement stands on. Columns count from 0. */
export interface Row {
  /** A column as text, or null. Bytes that are not UTF-8 throw `SqlFailed`, unless `lossy`. */
  text(column: number, lossy?: boolean): string | null;
  /** A column as a number, or null. An INTEGER beyond 2^53 comes out unsafe (`Number.isSafeInteger` is false). */
  number(column: number): number | null;
  /** A column as an integer, or null. Throws `SqlFailed` when it holds something else, or one beyond 2^53. */
  integer(column: number): number | null;
}
