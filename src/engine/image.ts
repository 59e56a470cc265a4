// The database as pages in memory. Pages written go to other memory than what they replace, so what is not durable yet can
// be taken back, and what is durable stays readable, while the next transaction is written already. It knows nothing of
// SQL, WebAssembly or storage.
import { CHUNK_BYTES, type LoadedImage, type PageDelta, type Pages } from "../port.ts";

/** Where a page lies: a slot is as much memory as a page needs. */
type Slot = number;
const NOWHERE: Slot = -1;

/** What was written since one flush began, until the next one begins: made durable together, or taken back. */
interface Layer {
  /** Page number → where its bytes from before this layer lie. A page in here was written or dropped. */
  readonly before: Map<number, Slot>;
  /** Pages before this layer. */
  readonly pageCount: number;
}

export class Image {
  readonly pageSize: number;
  pageCount: number;
  /** The pages as of the last `settle`, whatever was written since. */
  readonly durable: Pages;
  readonly #slotsPerChunk: number;
  readonly #chunks: Uint8Array[] = [];
  /** Index: page number. */
  #slots: Slot[] = [];
  /** Slots that hold nothing; the last one was used last and is taken first, being in the processor's cache. */
  #free: Slot[] = [];
  /** From the oldest to the one that is written to. Two at the most: one is being flushed. */
  readonly #layers: Layer[] = [];

  constructor(loaded: LoadedImage) {
    this.pageSize = loaded.pageSize;
    this.pageCount = 0;
    this.#slotsPerChunk = CHUNK_BYTES / loaded.pageSize;
    this.replace(loaded);
    this.durable = this.#makeDurable();
  }

  /** A view of page `number` (from 1) as it is now, valid until its next write. */
  page(number: number): Uint8Array {
    return this.#slot(this.#slots[number]!);
  }

  /** Copies bytes from `offset` into `target`; returns how many were there. SQLite may ask for part of a page. */
  read(offset: number, target: Uint8Array): number {
    const { pageSize } = this;
    const available = Math.min(target.length, this.pageCount * pageSize - offset);
    let done = 0;
    while (done < available) {
      const number = Math.floor((offset + done) / pageSize) + 1;
      const from = (offset + done) % pageSize;
      const page = this.page(number);
      const part = from === 0 && available - done >= pageSize ? page : page.subarray(from, from + available - done);
      target.set(part, done);
      done += part.length;
    }
    return Math.max(done, 0);
  }

  /** Replaces page `number`, which may lie past the end. */
  write(number: number, bytes: Uint8Array): void {
    this.#grow(number - 1);
    this.#writable(number).set(bytes);
    if (number > this.pageCount) this.pageCount = number;
  }

  /** Drops the pages after `pageCount`. */
  truncate(pageCount: number): void {
    const { before } = this.#top;
    for (let number = this.pageCount; number > pageCount; number--) {
      const slot = this.#slots[number]!;
      if (before.has(number)) this.#free.push(slot);
      else before.set(number, slot);
      this.#slots[number] = NOWHERE;
    }
    this.#grow(pageCount);
    this.pageCount = pageCount;
  }

  /**
   * The pages written since the last flush began, or null when nothing changed. The bytes are views, valid until they are
   * written again or, once their flush began, until it is settled or undone.
   */
  delta(): PageDelta | null {
    const { before, pageCount } = this.#top;
    const pages = new Map<number, Uint8Array>();
    const numbers = [...before.keys()].filter((number) => number <= this.pageCount);
    for (const number of numbers.sort((a, b) => a - b)) pages.set(number, this.page(number));
    if (pages.size === 0 && this.pageCount === pageCount) return null;
    const held = (number: number): Uint8Array | null => {
      const slot = before.get(number) ?? NOWHERE;
      return slot === NOWHERE ? null : this.#slot(slot);
    };
    return { pageSize: this.pageSize, pageCount: this.pageCount, pages, before: held };
  }

  /** What was written so far is being flushed: what is written from now on belongs to the next flush. */
  beginFlush(): void {
    if (this.isFlushing) throw new Error("one flush at a time");
    this.#addLayer();
  }

  get isFlushing(): boolean {
    return this.#layers.length > 1;
  }

  /** What is being flushed is durable now; when nothing is, what was written. */
  settle(): void {
    const { before } = this.#layers.shift()!;
    for (const slot of before.values()) if (slot !== NOWHERE) this.#free.push(slot);
    if (this.#layers.length === 0) this.#addLayer();
  }

  /** Takes back what was written since the last flush began. */
  rollBack(): void {
    const { before, pageCount } = this.#layers.pop()!;
    for (const [number, slot] of before) {
      const written = this.#slots[number]!;
      if (written !== NOWHERE) this.#free.push(written);
      this.#slots[number] = slot;
    }
    this.pageCount = pageCount;
    this.#addLayer();
  }

  /** Takes back everything since the last `settle`: what is being flushed too. */
  undo(): void {
    this.rollBack();
    if (this.#layers.length === 1) return;
    this.#layers.pop();
    this.rollBack();
  }

  /** Takes over pages that another writer committed. Nothing of our own may be pending. */
  apply({ pageCount, pages }: PageDelta): void {
    this.truncate(pageCount);
    // In place: a stretch of log can be long, and nothing has to be taken back.
    for (const [number, bytes] of pages) if (number <= pageCount) this.page(number).set(bytes);
    this.settle();
  }

  /** Takes over a whole image that was loaded anew. Nothing of our own may be pending. */
  replace({ pageCount, chunks }: LoadedImage): void {
    this.#chunks.splice(0, this.#chunks.length, ...chunks);
    this.pageCount = pageCount;
    this.#slots = Array.from({ length: pageCount + 1 }, (_, number) => number - 1);
    this.#free = [];
    for (let slot = chunks.length * this.#slotsPerChunk - 1; slot >= pageCount; slot--) this.#free.push(slot);
    this.#layers.length = 0;
    this.#addLayer();
  }

  get #top(): Layer {
    return this.#layers.at(-1)!;
  }

  #addLayer(): void {
    this.#layers.push({ before: new Map(), pageCount: this.pageCount });
  }

  /** Memory for page `number` that no older layer needs. */
  #writable(number: number): Uint8Array {
    const { before } = this.#top;
    const slot = this.#slots[number] ?? NOWHERE;
    if (before.has(number) && slot !== NOWHERE) return this.#slot(slot);
    if (!before.has(number)) before.set(number, slot);
    const fresh = this.#take();
    this.#slots[number] = fresh;
    return this.#slot(fresh);
  }

  /** Adds pages of zeros: whoever takes the delta has other bytes there, or none. */
  #grow(pageCount: number): void {
    for (let number = this.pageCount + 1; number <= pageCount; number++) this.#writable(number).fill(0);
    if (pageCount > this.pageCount) this.pageCount = pageCount;
  }

  #take(): Slot {
    const slot = this.#free.pop();
    if (slot !== undefined) return slot;
    const first = this.#chunks.length * this.#slotsPerChunk;
    this.#chunks.push(new Uint8Array(CHUNK_BYTES));
    for (let next = first + this.#slotsPerChunk - 1; next > first; next--) this.#free.push(next);
    return first;
  }

  #slot(slot: Slot): Uint8Array {
    const chunk = this.#chunks[Math.floor(slot / this.#slotsPerChunk)]!;
    const at = (slot % this.#slotsPerChunk) * this.pageSize;
    return chunk.subarray(at, at + this.pageSize);
  }

  #makeDurable(): Pages {
    const layers = this.#layers;
    return {
      pageSize: this.pageSize,
      get pageCount() {
        return layers[0]!.pageCount;
      },
      page: (number) => {
        // The oldest layer that has it knows where it lay before all of them.
        const layer = layers.find(({ before }) => before.has(number));
        return layer === undefined ? this.page(number) : this.#slot(layer.before.get(number)!);
      },
    };
  }
}
