// The database as pages in memory. It remembers what the pages written since the last `settle` held before (the undo
// set), so that a flush that fails can be taken back, and gives the pages written as a delta. It knows nothing of SQL,
// WebAssembly or storage.
import { CHUNK_BYTES, type LoadedImage, type PageDelta } from "../port.ts";

/** Pre-image buffers kept from one transaction to the next: as many as a large group changes, 2 MB of them. */
const SPARE_PAGES = 512;

export class Image {
  readonly pageSize: number;
  pageCount: number;
  readonly #pagesPerChunk: number;
  readonly #chunks: Uint8Array[];
  /** Page number → its bytes before the first write since `settle`. */
  readonly #before: Map<number, Uint8Array> = new Map();
  readonly #written: Set<number> = new Set();
  #pageCountBefore: number;
  /** Pre-image buffers of settled transactions, kept so that a commit allocates nothing. */
  readonly #spare: Uint8Array[] = [];

  constructor({ pageSize, pageCount, chunks }: LoadedImage) {
    this.pageSize = pageSize;
    this.pageCount = pageCount;
    this.#pageCountBefore = pageCount;
    this.#pagesPerChunk = CHUNK_BYTES / pageSize;
    this.#chunks = chunks;
  }

  /** A view of page `number` (from 1), valid until the next write. */
  page(number: number): Uint8Array {
    const index = number - 1;
    const at = (index % this.#pagesPerChunk) * this.pageSize;
    const chunk = this.#chunks[Math.floor(index / this.#pagesPerChunk)]!;
    return chunk.subarray(at, at + this.pageSize);
  }

  /** Copies bytes from `offset` into `target`; returns how many were there. SQLite may ask for part of a page. */
  read(offset: number, target: Uint8Array): number {
    const available = Math.min(target.length, this.pageCount * this.pageSize - offset);
    let done = 0;
    while (done < available) {
      const chunk = this.#chunks[Math.floor((offset + done) / CHUNK_BYTES)]!;
      const at = (offset + done) % CHUNK_BYTES;
      const part = chunk.subarray(at, at + Math.min(available - done, CHUNK_BYTES - at));
      target.set(part, done);
      done += part.length;
    }
    return Math.max(done, 0);
  }

  /** Replaces page `number`, which may lie past the end, remembering what it held. */
  write(number: number, bytes: Uint8Array): void {
    if (!this.#written.has(number)) {
      this.#written.add(number);
      this.#remember(number);
    }
    this.#grow(number);
    this.page(number).set(bytes);
  }

  /** Drops the pages after `pageCount`, remembering what they held. */
  truncate(pageCount: number): void {
    for (let number = this.pageCount; number > pageCount; number--) {
      this.#remember(number);
      this.#written.delete(number);
    }
    this.#grow(pageCount);
    this.pageCount = pageCount;
  }

  /** The pages written since `settle`, or null when nothing changed. The bytes are views: use them before the next write. */
  delta(): PageDelta | null {
    if (this.#written.size === 0 && this.pageCount === this.#pageCountBefore) return null;
    const pages = new Map<number, Uint8Array>();
    for (const number of [...this.#written].sort((a, b) => a - b)) pages.set(number, this.page(number));
    return { pageSize: this.pageSize, pageCount: this.pageCount, pages };
  }

  /** What was written is durable now: forget what the pages held before. */
  settle(): void {
    for (const bytes of this.#before.values()) {
      if (this.#spare.length >= SPARE_PAGES) break;
      this.#spare.push(bytes);
    }
    this.#before.clear();
    this.#written.clear();
    this.#pageCountBefore = this.pageCount;
  }

  /** Puts the pages back as they were at the last `settle`. */
  undo(): void {
    for (const [number, bytes] of this.#before) {
      this.#grow(number);
      this.page(number).set(bytes);
    }
    this.pageCount = this.#pageCountBefore;
    this.settle();
  }

  /** Takes over pages that another writer committed. Nothing of our own may be pending. */
  apply({ pageCount, pages }: PageDelta): void {
    this.#grow(pageCount);
    for (const [number, bytes] of pages) if (number <= pageCount) this.page(number).set(bytes);
    this.pageCount = pageCount;
    this.settle();
  }

  /** Takes over a whole image that was loaded anew. Nothing of our own may be pending. */
  replace({ pageCount, chunks }: LoadedImage): void {
    this.#chunks.splice(0, this.#chunks.length, ...chunks);
    this.pageCount = pageCount;
    this.settle();
  }

  #remember(number: number): void {
    if (number > this.#pageCountBefore || this.#before.has(number)) return;
    const copy = this.#spare.pop() ?? new Uint8Array(this.pageSize);
    copy.set(this.page(number));
    this.#before.set(number, copy);
  }

  #grow(pageCount: number): void {
    while (this.#chunks.length * this.#pagesPerChunk < pageCount) this.#chunks.push(new Uint8Array(CHUNK_BYTES));
    if (pageCount <= this.pageCount) return;
    // A page between the old end and the new one may hold what a dropped page held: SQLite expects zeros.
    for (let number = this.pageCount + 1; number <= pageCount; number++) {
      this.page(number).fill(0);
      // Whoever takes the delta has other bytes there, or none: SQLite never writes a page that one transaction took and
      // gave back.
      this.#written.add(number);
    }
    this.pageCount = pageCount;
  }
}
