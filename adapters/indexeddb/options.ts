// What the IndexedDB adapter can be told.
import { checkOptions, PLACE_CHECKS } from "../../src/check.ts";
import { RecordInvalid } from "../../src/errors.ts";
import type { PlaceOptions } from "../../src/port.ts";

/**
 * How a database in IndexedDB is opened and written. Browsers that know no durability (before Chromium 83, Firefox 126,
 * Safari 15.4) write as they please, "strict" or not: the adapter's `supports.strict` tells.
 */
export interface IndexedDbOptions extends PlaceOptions {
  /**
   * Milliseconds for IndexedDB to answer: to open, and in a transaction from one answer to the next. Time in which the
   * page was frozen does not count. Default 10000.
   */
  readonly openTimeoutMs?: number;
  /**
   * Bytes of log from which on it is folded into the base once the store was not used for five seconds. Commits fold only a
   * log that is eight times as long. Default: 4 MiB, or a quarter of the database when that is more.
   */
  readonly foldBytes?: number;
}

export const DEFAULT_OPEN_TIMEOUT_MS = 10_000;
export const DEFAULT_BUSY_TIMEOUT_MS = 5000;

const TIMEOUT = {
  is: (value: unknown) => Number.isFinite(value) && Number(value) > 0,
  expected: "milliseconds, more than 0",
};

const BYTES = {
  is: (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0,
  expected: "an integer above 0",
};

/** Throws `RecordInvalid`. */
export function checkName(call: string, name: unknown): void {
  if (typeof name !== "string" || name === "" || name.includes("\0")) {
    throw new RecordInvalid(call, [], "expected a name");
  }
}

/** Throws `RecordInvalid`. */
export function checkIndexedDbOptions(name: unknown, options: IndexedDbOptions): void {
  checkName("indexeddb adapter", name);
  checkOptions("indexeddb adapter", options, { ...PLACE_CHECKS, openTimeoutMs: TIMEOUT, foldBytes: BYTES }, [
    "options",
  ]);
}
