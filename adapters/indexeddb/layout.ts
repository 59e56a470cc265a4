// Where things lie: one IndexedDB database for each name, one object store in it, keys that are arrays. Format 1 is the
// database's version 1: a newer format has a higher version, which closes the connections of tabs that know only this one.

/** The version of the IndexedDB database, and of all that is in it. */
export const FORMAT = 1;

/** The one object store. */
export const OBJECT_STORE = "perdure";

/** Apart from databases of the app that happen to have the same name. */
export const databaseName = (name: string): string => `perdure:${name}`;

/** One record: whose database it is, and up to where each block of the base is written. */
export const HEAD_KEY: IDBValidKey = ["head"];

/** The pages of the base, `BLOCK_BYTES` of them in a record. */
export const blockKey = (block: number): IDBValidKey => ["base", block];

/** What one flush changed, in `part`s. */
export const recordKey = (sequence: number, part: number): IDBValidKey => ["log", sequence, part];

/** Sorts behind every number. */
const LAST: IDBValidKey = [];

/** From one block to the last. */
export const blocksFrom = (block: number): [IDBValidKey, IDBValidKey] => [
  ["base", block],
  ["base", LAST],
];

/** Records after `sequence`, and in it from `part` on. */
export const recordsFrom = (sequence: number, part = 0): [IDBValidKey, IDBValidKey] => [
  ["log", sequence, part],
  ["log", LAST],
];

/** Records before `sequence`. */
export const recordsBefore = (sequence: number): [IDBValidKey, IDBValidKey] => [
  ["log", 0],
  ["log", sequence],
];

/**
 * Bytes of a block. Chromium moves values of 64 KiB and more into files of their own, so small blocks are slow to read;
 * and a fold writes whole blocks, so large ones are slow to write.
 */
export const BLOCK_BYTES: number = 256 * 1024;

/** Bytes of a record's part, small enough to stay out of a file of its own: those cost a commit twice as much. */
export const PART_BYTES: number = 60 * 1024;

/** Whether SQLite has pages of so many bytes. */
export const isPageSize = (bytes: number): boolean => bytes >= 512 && bytes <= 65536 && (bytes & (bytes - 1)) === 0;

/** The block that page `number` (from 1) is in. */
export const blockOf = (number: number, pageSize: number): number =>
  Math.floor((number - 1) / (BLOCK_BYTES / pageSize));

/** Blocks that a database of so many pages has. */
export const blockCount = (pageCount: number, pageSize: number): number =>
  pageCount === 0 ? 0 : blockOf(pageCount, pageSize) + 1;
