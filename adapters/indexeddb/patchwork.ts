// Pages out of blocks and records of which some may be missing. Each block has a chain: the records after the one that it
// was written at. They are put on it up to the first that is missing: what comes behind says what changed of pages that
// nobody knows. So a database of few blocks is as it was at one moment, though not at the last. Of a block that is missing
// itself there are the pages that records have whole: their checksums prove it.
import type { Remains } from "../../src/port.ts";
import { mostPages, spans, these } from "../wal/gaps.ts";
import { checksum, wordsOf } from "./checksum.ts";
import type { Block } from "./head.ts";
import { BLOCK_BYTES, blockOf } from "./layout.ts";
import type { LogRecord } from "./parts.ts";
import { applyDelta, type Expected, headerOf } from "./record.ts";

export type Report = (where: "base" | "log", problem: string, page?: number | null) => void;

/** Stands for every block that was never written. */
const UNWRITTEN = Infinity;

/** What is whole. */
export interface Remnants {
  readonly pageSize: number;
  readonly blocks: ReadonlyMap<number, Block>;
  /** Blocks that are not there, and told of. */
  readonly missing: ReadonlySet<number>;
  /** In their order, some of them missing. */
  readonly records: readonly LogRecord[];
  /** The first record that a block lacks. */
  startOf(block: number): number;
  /** The first record that a block lacks which was never written. */
  readonly oldest: number;
  /** Pages that the base has room for, by its head. */
  readonly named: number;
}

/** Records that follow each other. */
interface Run {
  readonly first: number;
  last: number;
  /** After the last one. */
  pageCount: number;
}

export function patch(remnants: Remnants, report: Report): Pick<Remains, "pageCount" | "page"> {
  const patchwork = new Patchwork(remnants);
  for (const record of remnants.records) patchwork.apply(record);
  return patchwork.finish(report);
}

class Patchwork {
  readonly #remnants: Remnants;
  readonly #pagesPerBlock: number;
  readonly #runs: Run[] = [];
  /** Pages that records changed; null for one that is not what they made of it. */
  readonly #changed: Map<number, Uint8Array | null> = new Map();
  readonly #expected: Expected = new Map();
  /** Block → how many of its first pages are the base's still. */
  readonly #kept: Map<number, number> = new Map();
  /** Blocks that lack records which are there. */
  readonly #behind: Set<number> = new Set();

  constructor(remnants: Remnants) {
    this.#remnants = remnants;
    this.#pagesPerBlock = BLOCK_BYTES / remnants.pageSize;
    for (const [number, { pages }] of remnants.blocks) {
      this.#kept.set(number, Math.floor(pages.length / remnants.pageSize));
    }
  }

  apply({ sequence, body }: LogRecord): void {
    const { pageCount } = headerOf(body);
    const before = this.#runs.at(-1);
    const run = before?.last === sequence - 1 ? before : { first: sequence, last: sequence, pageCount: Infinity };
    if (run !== before) this.#runs.push(run);
    const shrinks = pageCount < run.pageCount;
    run.last = sequence;
    run.pageCount = pageCount;
    const reaches = (block: number): boolean => this.#reaches(block, run) && this.#remnants.startOf(block) <= sequence;
    const page = (number: number): Uint32Array | null => {
      const block = blockOf(number, this.#remnants.pageSize);
      if (reaches(block)) return wordsOf(this.#writable(number));
      if (this.#remnants.startOf(block) <= sequence) this.#behind.add(block);
      return null;
    };
    applyDelta(body, sequence, page, this.#expected);
    if (shrinks) this.#drop(pageCount, reaches);
  }

  finish(report: Report): Pick<Remains, "pageCount" | "page"> {
    this.#check(report);
    const pageCount = this.#countPages(report);
    this.#reportBehind(pageCount, report);
    const nowhere: number[] = [];
    for (let number = 1; number <= pageCount; number++) {
      const isTold = this.#changed.has(number) || this.#remnants.missing.has(this.#blockOf(number));
      if (!isTold && this.#page(number) === null) nowhere.push(number);
    }
    for (const [first, last] of spans(nowhere)) report("base", `${these("page", first, last)} missing`, first);
    return { pageCount, page: (number) => (number > pageCount ? null : this.#page(number)) };
  }

  /** Whether the records of a run are put on a block, as far as it lacks them. */
  #reaches(block: number, { first, last }: Run): boolean {
    const start = this.#remnants.startOf(block);
    return start <= last + 1 && (first <= start || !this.#hasBeginning(block));
  }

  /** Whether there is anything that records can be put on: the block, or nothing at all with the first record over it. */
  #hasBeginning(block: number): boolean {
    const { blocks, missing, oldest } = this.#remnants;
    return blocks.has(block) || (!missing.has(block) && this.#runs[0]!.first <= oldest);
  }

  /** Pages past the end are gone; what comes back later is new. */
  #drop(pageCount: number, reaches: (block: number) => boolean): void {
    for (const number of this.#expected.keys()) {
      if (number <= pageCount || !reaches(this.#blockOf(number))) continue;
      this.#expected.delete(number);
      this.#changed.delete(number);
    }
    for (const [block, kept] of this.#kept) {
      const left = Math.max(0, pageCount - block * this.#pagesPerBlock);
      if (left < kept && reaches(block)) this.#kept.set(block, left);
    }
  }

  /** Pages that are not what records say they made of them: their base was not there. */
  #check(report: Report): void {
    for (const [number, { checksum: wanted, sequence }] of this.#expected) {
      if (checksum(wordsOf(this.#changed.get(number)!)) === wanted) continue;
      this.#changed.set(number, null);
      if (this.#remnants.missing.has(this.#blockOf(number))) continue;
      report("log", `page ${number} is not what record ${sequence} of its log made of it`, number);
    }
  }

  /** As many as after the last record that anything is put on, but no more than there can be something of. */
  #countPages(report: Report): number {
    const { blocks, missing, named } = this.#remnants;
    const those = [...blocks.keys(), ...missing, UNWRITTEN];
    const used = this.#runs.findLast((run) => those.some((block) => this.#reaches(block, run)));
    const claimed = used?.pageCount ?? Infinity;
    let there = 0;
    for (const kept of this.#kept.values()) there += kept;
    const most = Math.min(claimed, named + mostPages(there + this.#changed.size));
    let pageCount = 0;
    for (const number of this.#changed.keys()) if (number <= most) pageCount = Math.max(pageCount, number);
    for (const [block, kept] of this.#kept) {
      const last = Math.min(most, block * this.#pagesPerBlock + kept);
      if (kept > 0 && last > block * this.#pagesPerBlock) pageCount = Math.max(pageCount, last);
    }
    if (claimed > pageCount && claimed < Infinity) {
      report("base", `${these("page", pageCount + 1, claimed)} missing`, pageCount + 1);
    }
    return pageCount;
  }

  #reportBehind(pageCount: number, report: Report): void {
    for (const block of this.#behind) {
      const first = block * this.#pagesPerBlock + 1;
      const last = Math.min(first + this.#pagesPerBlock - 1, pageCount);
      if (first > last) continue;
      const start = this.#remnants.startOf(block);
      const run = this.#runs.find((one) => one.first <= start && start <= one.last);
      const after = `as after record ${run?.last ?? start - 1} of its log: what came later builds on what is missing`;
      report("log", `${these("page", first, last)} ${after}`, first);
    }
  }

  #page(number: number): Uint8Array | null {
    const changed = this.#changed.get(number);
    return changed === undefined ? this.#base(number) : changed;
  }

  #base(number: number): Uint8Array | null {
    const { pageSize, blocks } = this.#remnants;
    const block = this.#blockOf(number);
    const index = number - 1 - block * this.#pagesPerBlock;
    if (index >= (this.#kept.get(block) ?? 0)) return null;
    return blocks.get(block)!.pages.subarray(index * pageSize, (index + 1) * pageSize);
  }

  /** A page to be changed. One that is new was zeros, and one that is missing is taken for new: its checksum will tell. */
  #writable(number: number): Uint8Array {
    const page = this.#changed.get(number) ?? this.#base(number)?.slice() ?? new Uint8Array(this.#remnants.pageSize);
    this.#changed.set(number, page);
    return page;
  }

  #blockOf(number: number): number {
    return blockOf(number, this.#remnants.pageSize);
  }
}
