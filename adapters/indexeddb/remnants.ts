// What is left of a place put together: the blocks and records that are whole, and a word about each that is not. Knows
// no IndexedDB. Nothing is judged, and nothing thrown: what contradicts the rest is told like what is missing.
import { guessPageSize } from "../../src/format/pages.ts";
import { type Problem, problemIn, type Remains } from "../../src/port.ts";
import { spans, these } from "../wal/gaps.ts";
import { CONTRADICTS_ITSELF, type Life, sameLife } from "./frame.ts";
import type { Block, Head } from "./head.ts";
import { BLOCK_BYTES } from "./layout.ts";
import { joined, type LogRecord, type Part, sameToken } from "./parts.ts";
import { patch, type Report } from "./patchwork.ts";
import { headerOf, isWellFormed } from "./record.ts";

/** A value, or what is the matter with it, and the numbers in its key; NaN for what is no number of ours. */
export interface Found<T> {
  readonly numbers: readonly number[];
  readonly read: T | string;
}

/** All values of a place. */
export interface Values {
  readonly head: Head | string;
  readonly blocks: readonly Found<Block>[];
  readonly parts: readonly Found<Part>[];
}

const ELSEWHERE = "lies under another number";

export function putTogether(place: string, values: Values): Remains {
  const problems: Problem[] = [];
  const report: Report = (where, problem, page = null) =>
    void problems.push(problemIn("storage", where, problem, { page }));
  const life = lifeOf(values);
  const read = ours(values.head, life);
  if (typeof read === "string") report("base", `its head ${read}`);
  const head = typeof read === "string" ? null : read;
  const log = readLog(values.parts, life, report);
  const pageSize = pageSizeOf(head, log.records, values.blocks);
  const records = log.records.filter(({ sequence, body }) => {
    const size = headerOf(body).pageSize;
    if (size === 0 || size === pageSize) return true;
    report("log", `record ${sequence} of its log has pages of another size`);
    return false;
  });
  const from = head?.keptFrom ?? log.known[0] ?? 0;
  // There is nothing in the record that a database begins with.
  const oldest = Math.max(from, 1);
  reportGaps(from, head?.sequence ?? null, log.known, report);
  const { blocks, missing } = readBlocks(values.blocks, head, life, pageSize, report);
  const startOf = (block: number): number => {
    const named = head?.blocks[block] ?? 0;
    const written = blocks.get(block)?.sequence ?? named;
    if (written === 0) return oldest;
    // Records are taken away when no block needs them, of those that the head names.
    return head === null || written === named ? Math.max(written + 1, oldest) : written + 1;
  };
  const named = head === null ? 0 : head.blocks.length * (BLOCK_BYTES / pageSize);
  const patched = patch({ pageSize, blocks, missing, records, startOf, oldest, named }, report);
  return { place, pageSize, ...patched, problems };
}

/** Whose database most of it is. */
function lifeOf({ head, blocks, parts }: Values): Life | null {
  const votes = new Map<string, { readonly life: Life; count: number }>();
  for (const read of [head, ...blocks.map((one) => one.read), ...parts.map((one) => one.read)]) {
    if (typeof read === "string") continue;
    const vote = votes.get(read.life.join()) ?? { life: read.life, count: 0 };
    vote.count++;
    votes.set(read.life.join(), vote);
  }
  const [most] = [...votes.values()].sort((a, b) => b.count - a.count);
  return most?.life ?? null;
}

function ours<T extends { readonly life: Life }>(read: T | string, life: Life | null): T | string {
  return typeof read === "string" || life === null || sameLife(read.life, life) ? read : "belongs to another database";
}

/** The records that are whole, in their order, and the numbers of those of which there is anything. */
function readLog(
  found: Values["parts"],
  life: Life | null,
  report: Report,
): { readonly records: LogRecord[]; readonly known: number[] } {
  const bySequence = new Map<number, Map<number, Part>>();
  /** Told already. */
  const damaged = new Set<number>();
  for (const { numbers, read } of found) {
    const [sequence = NaN, part = NaN] = numbers;
    const one = ours(read, life);
    if (typeof one === "string") {
      const isKnown = !Number.isNaN(sequence + part);
      report("log", `${isKnown ? `part ${part} of record ${sequence}` : "a value"} of its log ${one}`);
      if (isKnown) damaged.add(sequence);
      continue;
    }
    const parts = bySequence.get(one.sequence) ?? new Map<number, Part>();
    bySequence.set(one.sequence, parts);
    const isInPlace = sequence === one.sequence && part === one.part;
    if (!isInPlace) report("log", `part ${one.part} of record ${one.sequence} of its log ${ELSEWHERE}`);
    if (isInPlace || !parts.has(one.part)) parts.set(one.part, one);
  }
  const records: LogRecord[] = [];
  for (const [sequence, parts] of [...bySequence].sort(([a], [b]) => a - b)) {
    const record = wholeOf(parts);
    if (record !== null && isWellFormed(record.body)) records.push(record);
    else if (record !== null) report("log", `record ${sequence} of its log ${CONTRADICTS_ITSELF}`);
    else if (!damaged.has(sequence)) report("log", `record ${sequence} of its log is not whole`);
  }
  const known = new Set([...bySequence.keys(), ...damaged]);
  return { records, known: [...known].sort((a, b) => a - b) };
}

function wholeOf(parts: ReadonlyMap<number, Part>): LogRecord | null {
  const all = [...parts.values()].sort((a, b) => a.part - b.part);
  const [first] = all as [Part];
  const fits = all.every((one) => one.parts === all.length && sameToken(one.token, first.token));
  return fits ? joined(all) : null;
}

function pageSizeOf(head: Head | null, records: readonly LogRecord[], blocks: Values["blocks"]): number {
  if (head !== null && head.pageSize > 0) return head.pageSize;
  const record = records.findLast(({ body }) => headerOf(body).pageSize > 0);
  if (record !== undefined) return headerOf(record.body).pageSize;
  const block = blocks.find(({ read }) => typeof read !== "string")?.read as Block | undefined;
  return guessPageSize(block?.pages ?? new Uint8Array(0));
}

/** Tells of records of which there is nothing. */
function reportGaps(from: number, to: number | null, known: readonly number[], report: Report): void {
  if (to === null && known.length === 0) report("log", "it has no records");
  let next = from;
  const upTo = (sequence: number): void => {
    if (sequence > next) report("log", `${these("record", next, sequence - 1, " of its log")} missing`);
    next = Math.max(next, sequence + 1);
  };
  for (const sequence of known) if (sequence >= from) upTo(sequence);
  if (to !== null) upTo(to + 1);
}

/** The blocks that are whole, and which of those that should be there are not. */
function readBlocks(
  found: Values["blocks"],
  head: Head | null,
  life: Life | null,
  pageSize: number,
  report: Report,
): { readonly blocks: Map<number, Block>; readonly missing: Set<number> } {
  const pageOf = (block: number): number => block * (BLOCK_BYTES / pageSize) + 1;
  const blocks = new Map<number, Block>();
  const missing = new Set<number>();
  const inPlace = new Set<number>();
  const isNamed = ({ block, sequence }: Block): boolean => head?.blocks[block] === sequence;
  for (const { numbers, read } of found) {
    const [number = NaN] = numbers;
    const one = ours(read, life);
    if (typeof one === "string") {
      const isKnown = !Number.isNaN(number);
      report("base", `${isKnown ? `block ${number}` : "a value"} of its base ${one}`, isKnown ? pageOf(number) : null);
      if (head === null ? isKnown : (head.blocks[number] ?? 0) > 0) missing.add(number);
      continue;
    }
    const isInPlace = number === one.block && numbers.length === 1;
    if (!isInPlace) report("base", `block ${one.block} of its base ${ELSEWHERE}`, pageOf(one.block));
    const other = blocks.get(one.block);
    if (other !== undefined && (isNamed(other) || (inPlace.has(one.block) && !isNamed(one)))) continue;
    blocks.set(one.block, one);
    if (isInPlace) inPlace.add(one.block);
  }
  const untold: number[] = [];
  for (const [block, at] of head?.blocks.entries() ?? []) {
    if (at === 0 || blocks.has(block) || missing.has(block)) continue;
    untold.push(block);
    missing.add(block);
  }
  for (const [first, last] of spans(untold)) {
    report("base", `${these("block", first, last, " of its base")} missing`, pageOf(first));
  }
  for (const [number, one] of blocks) {
    missing.delete(number);
    if (head === null || isNamed(one)) continue;
    report("base", `block ${number} of its base is not the one that its head names`, pageOf(number));
  }
  return { blocks, missing };
}
