// One adapter, several writers: more stores, and raw SQL as another program would run it. It keeps the log of what was
// appended, so that every store over it is told what the others wrote, on any adapter, those in memory included.
import { Database } from "../engine/database.ts";
import { loadEngine } from "../engine/engine.ts";
import type { Row } from "../engine/row.ts";
import { Fenced } from "../errors.ts";
import { type AsyncAdapter, CHUNK_BYTES, type LoadedImage, type News, type PageDelta, pagesOf } from "../port.ts";
import type { Position, SyncAdapter } from "../port.ts";

const DEFAULT_PAGE_SIZE = 4096;

/** A place in the log kept here. */
interface LogPosition extends Position {
  readonly at: number;
}

export class SharedPlace {
  /** Tells news as a whole image, as adapters do when too much has changed. */
  newsAsImage = false;
  readonly #inner: SyncAdapter | AsyncAdapter;
  #innerPosition: Position;
  readonly #pageSize: number;
  #pageCount: number;
  readonly #pages: Map<number, Uint8Array> = new Map();
  readonly #log: PageDelta[] = [];
  #stolen = 0;
  /** The asynchronous stores' turns to hold the lease. */
  #turn: Promise<void> = Promise.resolve();

  private constructor(inner: SyncAdapter | AsyncAdapter, loaded: LoadedImage & { readonly position: Position }) {
    this.#inner = inner;
    this.#innerPosition = loaded.position;
    this.#pageSize = loaded.pageCount === 0 ? DEFAULT_PAGE_SIZE : loaded.pageSize;
    this.#pageCount = loaded.pageCount;
    const pages = pagesOf(loaded);
    for (let number = 1; number <= loaded.pageCount; number++) this.#pages.set(number, pages.page(number).slice());
  }

  /** Loads what is there. The adapter belongs to the shared place from now on. */
  static async on(inner: SyncAdapter | AsyncAdapter): Promise<SharedPlace> {
    return new SharedPlace(inner, await inner.load());
  }

  /** An adapter for one more synchronous store. */
  syncPort(): SyncAdapter {
    const inner = this.#inner;
    if (!inner.synchronous) throw new Error("a synchronous store needs a synchronous adapter");
    const { name, place, supports } = inner;
    return {
      synchronous: true,
      name,
      place,
      supports,
      load: () => this.#load(),
      pull: (since) => this.#news(since),
      lock: () => inner.lock(),
      append: (delta, after) => {
        this.#fence(after);
        this.#innerPosition = inner.append(delta, this.#innerPosition);
        return this.#record(delta);
      },
      checkpoint: (pages) => inner.checkpoint(pages),
      close: () => {},
    };
  }

  /** An adapter for one more asynchronous store. */
  asyncPort(): AsyncAdapter {
    const inner = this.#inner;
    const { name, place, supports } = inner;
    return {
      synchronous: false,
      name,
      place,
      supports,
      load: async () => this.#load(),
      pull: async (since) => this.#news(since),
      lock: () => this.#lock(),
      append: async (delta, after) => {
        this.#fence(after);
        this.#innerPosition = await inner.append(delta, this.#innerPosition);
        return this.#record(delta);
      },
      checkpoint: async (pages) => inner.checkpoint(pages),
      close: async () => {},
    };
  }

  /** Runs statements as another program would, in one transaction. */
  async run(sql: string): Promise<void> {
    const database = await this.#database();
    try {
      database.transaction(() => database.exec(sql));
      const delta = database.delta();
      if (delta !== null) await this.#append(delta);
    } finally {
      database.close();
    }
  }

  /** The rows of a query, every value as text. */
  async rows(sql: string, columns: number): Promise<(string | null)[][]> {
    const database = await this.#database();
    const read = (row: Row): (string | null)[] => Array.from({ length: columns }, (_, column) => row.text(column));
    try {
      return database.prepare(sql).all([], read);
    } finally {
      database.close();
    }
  }

  /** Overwrites the first page of a table with nonsense. */
  async damage(table: string): Promise<void> {
    const [row] = await this.rows(`SELECT rootpage FROM sqlite_schema WHERE name = '${table}'`, 1);
    const nonsense = new Uint8Array(this.#pageSize).fill(0xaa);
    await this.#append({
      pageSize: this.#pageSize,
      pageCount: this.#pageCount,
      pages: new Map([[Number(row?.[0]), nonsense]]),
    });
  }

  /** Another writer gets in before each of the next appends, although they have the lease: they were frozen too long. */
  stealNext(appends: number): void {
    this.#stolen = appends;
  }

  /** Where it is, for messages. */
  get name(): string {
    return this.#inner.place;
  }

  async close(): Promise<void> {
    const page = (number: number): Uint8Array => this.#page(number);
    await this.#inner.close({ pageSize: this.#pageSize, pageCount: this.#pageCount, page });
  }

  async #append(delta: PageDelta): Promise<void> {
    const release = await this.#lock();
    try {
      this.#innerPosition = await this.#inner.append(delta, this.#innerPosition);
      this.#record(delta);
    } finally {
      release();
    }
  }

  async #lock(): Promise<() => void> {
    const before = this.#turn;
    let end = (): void => {};
    this.#turn = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    try {
      const release = await this.#inner.lock();
      return () => {
        release();
        end();
      };
    } catch (error) {
      end();
      throw error;
    }
  }

  async #database(): Promise<Database> {
    return new Database(await loadEngine(), this.#image());
  }

  #load(): LoadedImage & { readonly position: Position } {
    return { ...this.#image(), position: this.#here() };
  }

  #image(): LoadedImage {
    const bytes = this.#pageCount * this.#pageSize;
    const chunks = Array.from({ length: Math.ceil(bytes / CHUNK_BYTES) }, () => new Uint8Array(CHUNK_BYTES));
    for (let number = 1; number <= this.#pageCount; number++) {
      const at = (number - 1) * this.#pageSize;
      chunks[Math.floor(at / CHUNK_BYTES)]!.set(this.#page(number), at % CHUNK_BYTES);
    }
    return { pageSize: this.#pageSize, pageCount: this.#pageCount, chunks };
  }

  #here(): LogPosition {
    return { adapter: "shared", at: this.#log.length };
  }

  #news(since: Position): News | null {
    const { at } = since as LogPosition;
    if (at === this.#log.length) return null;
    const position = this.#here();
    if (this.newsAsImage) return { position, image: this.#image() };
    const changed = new Set(this.#log.slice(at).flatMap(({ pages }) => [...pages.keys()]));
    const numbers = [...changed].filter((number) => number <= this.#pageCount).sort((a, b) => a - b);
    const pages = new Map(numbers.map((number) => [number, this.#page(number)]));
    return { position, delta: { pageSize: this.#pageSize, pageCount: this.#pageCount, pages } };
  }

  #page(number: number): Uint8Array {
    const bytes = this.#pages.get(number);
    if (bytes === undefined) throw new Error(`page ${number} of ${this.#pageCount} was never appended`);
    return bytes;
  }

  #fence(after: Position): void {
    if (this.#stolen > 0) {
      this.#stolen--;
      this.#log.push({ pageSize: this.#pageSize, pageCount: this.#pageCount, pages: new Map() });
    }
    if ((after as LogPosition).at !== this.#log.length) throw new Fenced(this.#inner.place);
  }

  #record({ pageSize, pageCount, pages }: PageDelta): Position {
    const copies = new Map([...pages].map(([number, bytes]) => [number, bytes.slice()]));
    for (const [number, bytes] of copies) this.#pages.set(number, bytes);
    this.#pageCount = pageCount;
    this.#log.push({ pageSize, pageCount, pages: copies });
    return this.#here();
  }
}
