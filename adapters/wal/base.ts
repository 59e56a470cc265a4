// The SQLite file itself: read whole at open, and brought up to date page by page at a checkpoint. Knows nothing of where
// its file comes from.
import { ImageCorrupt } from "../../src/errors.ts";
import { CHUNK_BYTES, type LoadedImage, type Pages } from "../../src/port.ts";
import { HEADER_BYTES, type Header, readDatabaseHeader } from "./header.ts";
import { samePage } from "./pages.ts";
import type { Program } from "./program.ts";
import { type RandomAccessFile, type ReadableFile, readPart } from "./random-access-file.ts";
import { markAsRollback, markAsWal, type Scanned } from "./wal.ts";

const LARGEST_WRITE_BYTES = 256 * 1024;

export class Base {
  readonly #place: string;
  readonly #file: RandomAccessFile;
  readonly #isInPlace: () => boolean;
  readonly pageSize: number;
  #buffer: Uint8Array | null = null;

  /** @param isInPlace whether who opens the place now would find this very file */
  constructor(place: string, file: RandomAccessFile, pageSize: number, isInPlace: () => boolean) {
    this.#place = place;
    this.#file = file;
    this.#isInPlace = isInPlace;
    this.pageSize = pageSize;
  }

  /** Whether who opens the place now would find this very file. */
  isInPlace(): boolean {
    return this.#isInPlace();
  }

  readHeader(): Header {
    return readHeaderOf(this.#file, this.#place);
  }

  /** The file with what its log adds. Throws `ImageCorrupt` when pages are missing from both. */
  load(log: Scanned | null): LoadedImage {
    return loadImage(this.#place, this.#file, this.pageSize, log);
  }

  /** A page as it is in this file, or null when that ends before. */
  page(number: number): Uint8Array | null {
    const page = readPart(this.#file, (number - 1) * this.pageSize, this.pageSize);
    if (number === 1) markAsRollback(page);
    return page.length < this.pageSize ? null : page;
  }

  /** The pages of `pages` that this file does not have, or not so. */
  differences(pages: Pages): Map<number, Uint8Array> {
    const found = new Map<number, Uint8Array>();
    const stored = new Uint8Array(pages.pageSize);
    for (let number = 1; number <= pages.pageCount; number++) {
      const length = this.#file.read(stored, (number - 1) * pages.pageSize);
      if (number === 1) markAsRollback(stored);
      const wanted = pages.page(number);
      if (length < pages.pageSize || !samePage(stored, wanted)) found.set(number, wanted);
    }
    return found;
  }

  /** Writes pages, not yet durable; those that follow each other at once, for a call costs more than a copy. */
  write(numbers: readonly number[], pages: Pages): void {
    const { pageSize } = pages;
    for (let from = 0, to = 0; from < numbers.length; from = to) {
      to = endOfRun(numbers, from, Math.max(1, LARGEST_WRITE_BYTES / pageSize));
      this.#file.write(this.#joined(numbers.slice(from, to), pages), (numbers[from]! - 1) * pageSize);
    }
  }

  /** Pages one after the other; valid until the next call. */
  #joined(numbers: readonly number[], pages: Pages): Uint8Array {
    const [first] = numbers;
    if (first !== undefined && numbers.length === 1) return pageForDisk(first, pages.page(first));
    this.#buffer ??= new Uint8Array(LARGEST_WRITE_BYTES);
    numbers.forEach((number, i) => this.#buffer!.set(pageForDisk(number, pages.page(number)), i * pages.pageSize));
    return this.#buffer.subarray(0, numbers.length * pages.pageSize);
  }

  /** Cuts off what lies behind the last page. */
  trim({ pageCount, pageSize }: Pages): void {
    if (this.#file.size() > pageCount * pageSize) this.#file.truncate(pageCount * pageSize);
  }

  *sync(): Program<void> {
    yield { kind: "sync", file: this.#file };
  }

  close(): void {
    this.#file.close();
  }
}

/** Where the numbers that count up by one from `from` on end, or `most` of them. */
function endOfRun(numbers: readonly number[], from: number, most: number): number {
  let to = from + 1;
  while (to < numbers.length && to - from < most && numbers[to] === numbers[to - 1]! + 1) to++;
  return to;
}

/** Page 1 says on disk that the file has a log. */
export function pageForDisk(number: number, bytes: Uint8Array): Uint8Array {
  if (number !== 1) return bytes;
  const copy = bytes.slice();
  markAsWal(copy);
  return copy;
}

/** A database file with what its log adds, as the engine wants it. Throws `ImageCorrupt` when pages are missing from both. */
export function loadImage(place: string, file: ReadableFile, pageSize: number, log: Scanned | null): LoadedImage {
  const size = file.size();
  const wholePages = Math.floor(size / pageSize);
  const pageCount = log?.pageCount ?? readHeaderOf(file, place).pageCount ?? Math.ceil(size / pageSize);
  for (let number = wholePages + 1; number <= pageCount; number++) {
    if (log?.pages.has(number)) continue;
    const where = { part: "base", page: number, offset: (number - 1) * pageSize } as const;
    throw new ImageCorrupt(place, `of ${pageCount} pages it should have, page ${number} is missing (truncated)`, {
      where,
    });
  }
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < pageCount * pageSize; at += CHUNK_BYTES) {
    const chunk = new Uint8Array(CHUNK_BYTES);
    file.read(chunk, at);
    chunks.push(chunk);
  }
  const perChunk = CHUNK_BYTES / pageSize;
  for (const [number, bytes] of log?.pages ?? []) {
    if (number > pageCount) continue;
    chunks[Math.floor((number - 1) / perChunk)]!.set(bytes, ((number - 1) % perChunk) * pageSize);
  }
  markAsRollback(chunks[0]!);
  return { pageSize, pageCount, chunks };
}

/** Throws `StorageRefused` when the file is no database, or not one of ours to open. */
export function readHeaderOf(file: ReadableFile, place: string): Header {
  return readDatabaseHeader(readPart(file, 0, HEADER_BYTES), place);
}
