// What lies on a disk at one moment, and what changed it: data that a simulated disk writes down and a crash is made of.

/** What lies on a disk. Names that have the same number mean the same file (hard links). */
export interface DiskImage {
  readonly files: ReadonlyMap<number, Uint8Array>;
  readonly names: ReadonlyMap<string, number>;
}

/** What a call did, or what a sync was over. `upTo` is how many entries there were when that sync began. */
export type DiskEntry =
  | { readonly kind: "write"; readonly file: number; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly file: number; readonly size: number }
  /** Names that mean another file now, or none. Together, or not at all. */
  | { readonly kind: "names"; readonly changes: readonly (readonly [string, number | null])[] }
  | { readonly kind: "sync"; readonly file: number; readonly upTo: number; readonly ok: boolean }
  | { readonly kind: "sync names"; readonly upTo: number; readonly ok: boolean };

/** Bytes that grow. Those it begins with are only read: it has a copy as soon as they change. */
export class Content {
  #buffer: Uint8Array;
  #size: number;
  #isOwn = false;

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.#buffer = bytes;
    this.#size = bytes.length;
  }

  get size(): number {
    return this.#size;
  }

  /** As they are now. Ask again after a change. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  write(bytes: Uint8Array, at: number): void {
    if (bytes.length === 0) return;
    this.resize(Math.max(this.#size, at + bytes.length));
    this.#buffer.set(bytes, at);
  }

  /** Cuts, or grows with zeros. */
  resize(size: number): void {
    if (size > this.#buffer.length || !this.#isOwn) {
      const own = new Uint8Array(
        size > this.#buffer.length ? Math.max(size, 2 * this.#buffer.length) : this.#buffer.length,
      );
      own.set(this.bytes);
      this.#buffer = own;
      this.#isOwn = true;
    }
    if (size < this.#size) this.#buffer.fill(0, size, this.#size);
    this.#size = size;
  }
}
