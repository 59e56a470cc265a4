// Operations that wait for their turn in the asynchronous shell: which of them run together, and how each learns what
// came of it. Knows no adapter.
import type { Work } from "./operations.ts";

/** An operation that waits for its turn. */
export interface Job {
  readonly work: Work<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** What came of an operation. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** More operations than this make two groups: the first ones should not wait for the last ones. */
const MAX_GROUP = 256;

/** Jobs that run together next: up to one that must run alone. */
export function groupSize(queue: readonly Job[]): number {
  const alone = queue.findIndex(({ work }) => work.alone === true);
  return Math.min(MAX_GROUP, alone === -1 ? queue.length : Math.max(alone, 1));
}

/** Never throws: one caller's odd record is no matter of the others in its group. */
export function settle({ work, resolve, reject }: Job, outcome: Outcome): void {
  if ("error" in outcome) return reject(outcome.error);
  try {
    work.done();
    resolve(outcome.value);
  } catch (error) {
    reject(error);
  }
}
