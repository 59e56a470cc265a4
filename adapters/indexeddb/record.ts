// A delta as words, and back: for each page what changed of it, as runs of words, and a checksum over what it then is.
// Commits change few words of the pages they touch; whole pages would be ten times as much.
import type { PageDelta } from "../../src/port.ts";
import { checksum, wordsOf } from "./checksum.ts";
import { damaged } from "./frame.ts";
import { isPageSize } from "./layout.ts";
import type { Logged } from "./log-index.ts";
import type { LogRecord } from "./parts.ts";

const HEADER_WORDS = 3;
const PAGE_WORDS = 3;

/** Runs this near to each other are one: a run costs a word. */
const NEAR_WORDS = 2;

/** What a record says before its pages. */
export interface DeltaHeader {
  readonly pageSize: number;
  readonly pageCount: number;
}

/** What a new page held before: no page is larger. */
const ZEROS: Uint32Array = new Uint32Array(65536 / 4);

/** Reused from one append to the next, so that a commit allocates little; one that a huge commit needed is not kept. */
let scratch: Uint32Array = new Uint32Array(64 * 1024);
const MOST_SCRATCH_WORDS = 1024 * 1024;

/** The words of a delta. Valid until the next call. */
export function encodeDelta({ pageSize, pageCount, pages, before }: PageDelta): Uint32Array {
  const pageWords = pageSize / 4;
  let out = scratch;
  out[0] = pageSize;
  out[1] = pageCount;
  out[2] = pages.size;
  let at = HEADER_WORDS;
  for (const [number, bytes] of pages) {
    // A run is at least a word, and so is the gap to the next one.
    if (at + PAGE_WORDS + pageWords * 2 > out.length) out = larger(out, at);
    const words = wordsOf(bytes);
    const old = before?.(number);
    out[at] = number;
    out[at + 1] = checksum(words);
    if (old !== undefined) at = putChanges(words, old === null ? ZEROS : wordsOf(old), out, at + 2);
    else {
      out[at + 2] = 1;
      at = putRun(words, 0, pageWords, out, at + PAGE_WORDS);
    }
  }
  if (out.length <= MOST_SCRATCH_WORDS) scratch = out;
  return out.subarray(0, at);
}

function larger(words: Uint32Array, used: number): Uint32Array {
  const copy = new Uint32Array(words.length * 2);
  copy.set(words.subarray(0, used));
  return copy;
}

/** Most of a page is as it was: looked at in stretches, that takes a third of the time. */
const STRETCH_WORDS = 8;

function isSameStretch(a: Uint32Array, b: Uint32Array, i: number): boolean {
  const first = (a[i]! ^ b[i]!) | (a[i + 1]! ^ b[i + 1]!) | (a[i + 2]! ^ b[i + 2]!) | (a[i + 3]! ^ b[i + 3]!);
  const rest = (a[i + 4]! ^ b[i + 4]!) | (a[i + 5]! ^ b[i + 5]!) | (a[i + 6]! ^ b[i + 6]!) | (a[i + 7]! ^ b[i + 7]!);
  return (first | rest) === 0;
}

/** Writes the runs of `words` that differ from `old`, and before them how many there are. Gives where they end. */
function putChanges(words: Uint32Array, old: Uint32Array, out: Uint32Array, from: number): number {
  const { length } = words;
  let [at, count, i] = [from + 1, 0, 0];
  for (;;) {
    while (i + STRETCH_WORDS <= length && isSameStretch(words, old, i)) i += STRETCH_WORDS;
    while (i < length && words[i] === old[i]) i++;
    if (i === length) break;
    const start = i;
    let end = i + 1;
    for (i = end; i < length && i - end <= NEAR_WORDS; i++) if (words[i] !== old[i]) end = i + 1;
    i = end;
    at = putRun(words, start, end, out, at);
    count++;
  }
  out[from] = count;
  return at;
}

function putRun(words: Uint32Array, start: number, end: number, out: Uint32Array, at: number): number {
  // Pages are 16384 words at the most: either fits into half a word.
  out[at] = (start << 16) | (end - start);
  for (let i = start, to = at + 1; i < end; i++, to++) out[to] = words[i]!;
  return at + 1 + end - start;
}

/** What the pages of a record must be when it has been applied. */
export type Expected = Map<number, { readonly checksum: number; readonly sequence: number }>;

export function headerOf(body: Uint32Array): DeltaHeader {
  return { pageSize: body[0]!, pageCount: body[1]! };
}

/**
 * Whether a body says only what can be: every page and run within bounds, in their order, and nothing behind them. What
 * reads a body relies on it. Its checksum keeps it from damage, and from nobody who means it.
 */
export function isWellFormed(body: Uint32Array): boolean {
  if (body.length < HEADER_WORDS) return false;
  const { pageSize, pageCount } = headerOf(body);
  if (!isPageSize(pageSize)) return pageSize === 0 && pageCount === 0 && body[2] === 0 && body.length === HEADER_WORDS;
  let [at, last] = [HEADER_WORDS, 0];
  for (let left = body[2]!; left > 0; left--) {
    if (at + PAGE_WORDS > body.length) return false;
    const number = body[at]!;
    if (number <= last || number > pageCount) return false;
    last = number;
    let runs = body[at + 2]!;
    for (at += PAGE_WORDS; runs > 0; runs--) {
      if (at >= body.length) return false;
      const [start, length] = [body[at]! >>> 16, body[at]! & 0xffff];
      if (start + length > pageSize / 4) return false;
      at += 1 + length;
    }
  }
  return at === body.length;
}

/** A record as its index wants it. */
export const loggedAs = ({ sequence, bytes, body }: LogRecord): Logged => ({
  ...{ sequence, bytes, pages: pagesOf(body) },
  ...headerOf(body),
});

/** The pages that a record changes. */
function* pagesOf(body: Uint32Array): Generator<number> {
  for (let at = HEADER_WORDS, left = body[2]!; left > 0; left--) {
    yield body[at]!;
    let runs = body[at + 2]!;
    for (at += PAGE_WORDS; runs > 0; runs--) at += 1 + (body[at]! & 0xffff);
  }
}

/**
 * Applies a record to pages. `page` gives what a page holds before, zeros when it is a new one, or null to leave it as
 * it is; what it gives for a page of which nothing changes (no `runs`) is not written to. `expected` is brought up to date.
 */
export function applyDelta(
  body: Uint32Array,
  sequence: number,
  page: (number: number, runs: number) => Uint32Array | null,
  expected: Expected,
): void {
  for (let at = HEADER_WORDS, left = body[2]!; left > 0; left--) {
    const number = body[at]!;
    let runs = body[at + 2]!;
    const target = page(number, runs);
    if (target !== null) expected.set(number, { checksum: body[at + 1]!, sequence });
    for (at += PAGE_WORDS; runs > 0; runs--) {
      const [start, length] = [body[at]! >>> 16, body[at]! & 0xffff];
      target?.set(body.subarray(at + 1, at + 1 + length), start);
      at += 1 + length;
    }
  }
}

/** Throws `ImageCorrupt` when pages are not what the last record that changed them said. */
export function checkPages(expected: Expected, page: (number: number) => Uint32Array, place: string): void {
  for (const [number, { checksum: wanted, sequence }] of expected) {
    if (checksum(page(number)) === wanted) continue;
    const problem = `page ${number} is not what record ${sequence} of its log made of it`;
    throw damaged(place, problem, { part: "log", page: number, frame: sequence });
  }
}
