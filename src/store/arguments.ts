// Arguments of the small operations, checked the same way by both shells. What a commit takes is in prepared.ts.
import { checkOptions } from "../check.ts";
import { RecordInvalid } from "../errors.ts";
import { checkLimit } from "./listing.ts";

/** How much of a queue to see. */
export interface LimitOptions {
  /** Rows at the most, at least 1. Default: all. */
  readonly limit?: number | null;
}

/** Null means all. Throws `RecordInvalid`. */
export function optionalLimit(options: LimitOptions = {}): number | null {
  checkOptions("pending", options, { limit: { is: () => true, expected: "anything" } });
  const { limit = null } = options;
  return limit === null ? null : checkLimit(limit);
}

/** Throws `RecordInvalid`. */
export function checkSeq(seq: number): number {
  if (!Number.isSafeInteger(seq)) throw new RecordInvalid("seq", [], "expected an integer");
  return seq;
}
