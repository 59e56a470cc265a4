// Reads a whole place in one transaction: the head, the blocks of the base, and the log over them. Throws `ImageCorrupt`
// when they do not fit together, and changes nothing.
import { type ImageCorrupt, StorageRefused } from "../../src/errors.ts";
import { CHUNK_BYTES, type LoadedImage } from "../../src/port.ts";
import { wordsOf } from "./checksum.ts";
import { CONTRADICTS_ITSELF, damaged, type Life } from "./frame.ts";
import { decodeBlock, decodeHead, type Head } from "./head.ts";
import { BLOCK_BYTES, blockCount, blockOf, blocksFrom, HEAD_KEY, recordKey, recordsFrom } from "./layout.ts";
import { LogIndex } from "./log-index.ts";
import { Joiner, type LogRecord } from "./parts.ts";
import type { Platform } from "./platform.ts";
import { applyDelta, checkPages, type Expected, headerOf, isWellFormed, loggedAs } from "./record.ts";
import type { Inside } from "./transaction.ts";

/** Asked for at once: more would be a lump in memory, fewer would be waited for too often. */
const BLOCKS_AT_ONCE = 16;
/** Parts of records: the first time, and at the most. */
const FIRST_PARTS = 8;
const MOST_PARTS = 128;
/** Of parts: Chromium takes three times as long for each byte of answers of a megabyte. */
const BYTES_AT_ONCE = 256 * 1024;

/** Where page 1 says how many pages there are: https://www.sqlite.org/fileformat2.html#in_header_database_size */
const HEADER_PAGE_COUNT = 28;

/** What is not written to. */
const ZEROS: Uint32Array = new Uint32Array(0);

export interface LoadedPlace {
  readonly image: LoadedImage;
  readonly sequence: number;
  readonly index: LogIndex;
}

/** Everything in the store. Runs inside a transaction. */
export async function loadPlace(platform: Platform, inside: Inside, life: Life, place: string): Promise<LoadedPlace> {
  const head = decodeHead(await inside.ask<unknown>(inside.store.get(HEAD_KEY)), place);
  const image = new GrowingImage(head, place);
  await readBlocks(platform, inside, head, image, place);
  const index = new LogIndex();
  let sequence = head.keptFrom - 1;
  for await (const record of readRecords(platform, inside, life, sequence, place)) {
    sequence = record.sequence;
    image.apply(record);
    index.note(loggedAs(record), head.blocks);
  }
  // The newest one is never taken away.
  if (sequence < head.keptFrom || sequence < head.sequence) {
    throw damaged(place, `record ${sequence + 1} of its log is missing`, { part: "log", frame: sequence + 1 });
  }
  // Who appends looks for it there, and who reads on looks behind it: neither would ever get anywhere.
  const last = inside.ask(inside.store.getKey(recordKey(sequence, 0)));
  const behind = inside.ask(inside.store.getKey(platform.range(...recordsFrom(sequence + 1))));
  if ((await last) === undefined || (await behind) !== undefined) {
    throw damaged(place, `record ${sequence} of its log lies elsewhere`, { part: "log", frame: sequence });
  }
  return { image: image.finish(), sequence, index };
}

async function readBlocks(
  platform: Platform,
  { store, ask }: Inside,
  head: Head,
  image: GrowingImage,
  place: string,
): Promise<void> {
  const written = head.blocks.flatMap((at, block) => (at > 0 ? [block] : []));
  const fetch = (from: number): Promise<unknown[]> =>
    ask<unknown[]>(store.getAll(platform.range(...blocksFrom(written[from]!)), BLOCKS_AT_ONCE));
  let next = written.length > 0 ? fetch(0) : null;
  for (let at = 0; next !== null;) {
    const values: unknown[] = await next;
    const to = at + BLOCKS_AT_ONCE;
    // Asked for before the ones that came are looked at: the browser reads meanwhile.
    next = to < written.length ? fetch(to) : null;
    for (const [i, block] of written.slice(at, to).entries()) {
      image.put(block, decodeBlock(values[i], head, block, place));
    }
    at = to;
  }
}

/** The records after `after`, in their order, until there are no more. Runs inside a transaction. */
export async function* readRecords(
  platform: Platform,
  { store, ask }: Inside,
  life: Life,
  after: number,
  place: string,
): AsyncGenerator<LogRecord> {
  const joiner = new Joiner(life, after + 1, place);
  const fetch = (count: number): Promise<unknown[]> =>
    ask<unknown[]>(store.getAll(platform.range(...recordsFrom(...joiner.next)), count));
  let count = FIRST_PARTS;
  for (let next: Promise<unknown[]> | null = fetch(count); next !== null;) {
    const values: unknown[] = await next;
    const records = values.map((value) => joiner.take(value));
    if (values.length < count) next = null;
    else {
      const bytes = values.reduce((sum: number, value) => sum + (value as Uint8Array).byteLength, 0);
      count = Math.min(MOST_PARTS, Math.max(1, Math.round((values.length * BYTES_AT_ONCE) / bytes)));
      // Asked for before anybody works on what came: the browser reads meanwhile.
      next = fetch(count);
    }
    for (const record of records) {
      if (record === null) continue;
      const { sequence, body } = record;
      if (isWellFormed(body)) yield record;
      else
        throw damaged(place, `record ${sequence} of its log ${CONTRADICTS_ITSELF}`, { part: "log", frame: sequence });
    }
  }
  joiner.end();
}

/**
 * The pages as block after block and record after record comes in. Memory goes by what is stored, never by what a number
 * says that there is.
 */
class GrowingImage {
  readonly #head: Head;
  readonly #place: string;
  /** Those that the base has something of. */
  readonly #chunks: Map<number, Uint8Array> = new Map();
  /** Pages in none of them. */
  readonly #others: Map<number, Uint8Array> = new Map();
  /** Block → how many of its first pages are as the base has them, or were changed since. */
  readonly #stored: Map<number, number> = new Map();
  readonly #expected: Expected = new Map();
  #pageSize: number;
  /** After the last record; before the first one, as many as there can be. */
  #pageCount: number;

  constructor(head: Head, place: string) {
    this.#head = head;
    this.#place = place;
    this.#pageSize = head.pageSize;
    this.#pageCount = head.blocks.length === 0 ? 0 : head.blocks.length * (BLOCK_BYTES / head.pageSize);
  }

  put(block: number, bytes: Uint8Array): void {
    const at = block * BLOCK_BYTES;
    this.#chunk(Math.floor(at / CHUNK_BYTES)).set(bytes, at % CHUNK_BYTES);
    this.#stored.set(block, bytes.length / this.#pageSize);
  }

  apply({ sequence, body }: LogRecord): void {
    const { pageSize, pageCount } = headerOf(body);
    if (pageSize === 0) return;
    if (this.#pageSize !== 0 && pageSize !== this.#pageSize) {
      const problem = `record ${sequence} of its log has pages of another size`;
      throw damaged(this.#place, problem, { part: "log", frame: sequence });
    }
    this.#pageSize = pageSize;
    const page = (number: number, runs: number): Uint32Array | null => {
      if (!this.#isOlder(number, sequence)) return null;
      return runs === 0 ? ZEROS : wordsOf(this.#page(number));
    };
    applyDelta(body, sequence, page, this.#expected);
    if (pageCount < this.#pageCount) this.#drop(pageCount, sequence);
    this.#pageCount = pageCount;
  }

  finish(): LoadedImage {
    const [pageSize, pageCount] = [this.#pageSize, this.#pageCount];
    if (pageCount === 0) return { pageSize, pageCount, chunks: [] };
    const zeros = new Uint8Array(pageSize);
    checkPages(this.#expected, (number) => wordsOf(this.#find(number) ?? zeros), this.#place);
    this.#checkZeros();
    const perBlock = BLOCK_BYTES / pageSize;
    for (let block = 0; block < blockCount(pageCount, pageSize); block++) {
      const last = Math.min((block + 1) * perBlock, pageCount);
      for (let number = block * perBlock + (this.#stored.get(block) ?? 0) + 1; number <= last; number++) {
        if (!this.#expected.has(number)) throw pageMissing(number, this.#place);
      }
    }
    const count = Math.ceil((pageCount * pageSize) / CHUNK_BYTES);
    const chunks = Array.from({ length: count }, (_, index) => this.#chunk(index));
    for (const [number, bytes] of this.#others) {
      const at = (number - 1) * pageSize;
      chunks[Math.floor(at / CHUNK_BYTES)]!.set(bytes, at % CHUNK_BYTES);
    }
    return { pageSize, pageCount, chunks };
  }

  /** What comes back after a database shrank is new, and new pages are zeros. */
  #drop(pageCount: number, sequence: number): void {
    for (const number of this.#expected.keys()) {
      if (number <= pageCount || !this.#isOlder(number, sequence)) continue;
      this.#expected.delete(number);
      if (!this.#others.delete(number)) this.#find(number)?.fill(0);
    }
    const perBlock = BLOCK_BYTES / this.#pageSize;
    for (const [block, stored] of this.#stored) {
      const first = block * perBlock + 1;
      const left = Math.max(0, pageCount - first + 1);
      if (left >= stored || !this.#isOlder(first, sequence)) continue;
      this.#stored.set(block, left);
      for (let i = left; i < stored; i++) this.#page(first + i).fill(0);
    }
  }

  /** Whether the base has the page as it was before record `sequence`, or not at all. */
  #isOlder(number: number, sequence: number): boolean {
    return (this.#head.blocks[blockOf(number, this.#pageSize)] ?? 0) < sequence;
  }

  /**
   * New pages of which a record holds nothing but that they are zeros, as what was taken and given back in one commit: a
   * dozen bytes make a page of each. Beyond a chunk of them they are believed as far as the database's own header counts.
   */
  #checkZeros(): void {
    const first = this.#find(1);
    const count = first === null ? 0 : new DataView(first.buffer, first.byteOffset).getUint32(HEADER_PAGE_COUNT);
    let left = CHUNK_BYTES / this.#pageSize;
    for (const number of this.#expected.keys()) {
      if (number > count && this.#find(number) === null && --left < 0) throw pageMissing(number, this.#place);
    }
  }

  /** A page that has bytes, or null. */
  #find(number: number): Uint8Array | null {
    const at = (number - 1) * this.#pageSize;
    const chunk = this.#chunks.get(Math.floor(at / CHUNK_BYTES));
    if (chunk === undefined) return this.#others.get(number) ?? null;
    return chunk.subarray(at % CHUNK_BYTES, (at % CHUNK_BYTES) + this.#pageSize);
  }

  /** A page to be changed. */
  #page(number: number): Uint8Array {
    const found = this.#find(number);
    if (found !== null) return found;
    const page = new Uint8Array(this.#pageSize);
    this.#others.set(number, page);
    return page;
  }

  #chunk(index: number): Uint8Array {
    const chunk = this.#chunks.get(index) ?? new Uint8Array(CHUNK_BYTES);
    this.#chunks.set(index, chunk);
    return chunk;
  }
}

export function pageMissing(number: number, place: string): ImageCorrupt {
  return damaged(place, `page ${number} is missing`, { part: "base", page: number });
}

/** A place where nothing was ever written, though something must be. */
export function refuseEmpty(place: string): never {
  throw new StorageRefused("storage-missing", place, "nothing is there");
}
