// What one store knows of the log without its bytes: how long it is, and which blocks of the base are behind it. From
// that it is decided what to fold and which records nobody needs any more.
import { blockCount, blockOf } from "./layout.ts";

/** What a record tells of itself. */
export interface Logged {
  readonly sequence: number;
  readonly bytes: number;
  /** 0 for the record that a database begins with. */
  readonly pageSize: number;
  readonly pageCount: number;
  readonly pages: Iterable<number>;
}

/** A block of the base that lacks what records say. */
interface Behind {
  /** The first record that it lacks, or one before that. */
  since: number;
  /** The last record that it lacks. */
  last: number;
}

export class LogIndex {
  readonly #sizes: { readonly sequence: number; readonly bytes: number }[] = [];
  readonly #behind: Map<number, Behind> = new Map();
  #bytes = 0;
  /** After the last record; null before the first one. */
  #pageCount: number | null = null;
  /** Bytes of records noted in all, to count from. */
  #noted = 0;

  /** Bytes of the records that are still kept, as far as is known. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of those that folding can take away: the newest one stays, however large it is. */
  get foldable(): number {
    return this.#bytes - (this.#sizes.at(-1)?.bytes ?? 0);
  }

  get noted(): number {
    return this.#noted;
  }

  /** A record was appended, by whomever. `blocks`: what the head says of the base, when it was read with it. */
  note({ sequence, bytes, pageSize, pageCount, pages }: Logged, blocks: readonly number[] | null = null): void {
    this.#sizes.push({ sequence, bytes });
    this.#bytes += bytes;
    this.#noted += bytes;
    if (pageSize === 0) return;
    const isBehind = (block: number): void => {
      if ((blocks?.[block] ?? 0) >= sequence) return;
      const behind = this.#behind.get(block);
      if (behind === undefined) this.#behind.set(block, { since: sequence, last: sequence });
      else behind.last = sequence;
    };
    for (const number of pages) isBehind(blockOf(number, pageSize));
    // Blocks that hold pages past the new end: should those come back, they are new. Those that the base does not have
    // hold none, however many pages a record says there were.
    const known = this.#pageCount === null ? 0 : blockCount(this.#pageCount, pageSize);
    const before = blocks === null ? known : this.#pageCount === null ? blocks.length : Math.min(known, blocks.length);
    if (this.#pageCount === null || pageCount < this.#pageCount) {
      for (let block = Math.max(blockCount(pageCount, pageSize) - 1, 0); block < before; block++) isBehind(block);
    }
    this.#pageCount = pageCount;
  }

  /** The blocks that are behind, the longest ones first. */
  behind(): [block: number, since: number][] {
    const all = [...this.#behind].map(([block, { since }]): [number, number] => [block, since]);
    return all.sort(([, a], [, b]) => a - b);
  }

  /** The head was read again: others may have folded. */
  learn(blocks: readonly number[], keptFrom: number): void {
    for (const [block, behind] of this.#behind) {
      const at = blocks[block] ?? 0;
      if (behind.last <= at) this.#behind.delete(block);
      else behind.since = Math.max(behind.since, at + 1);
    }
    let gone = 0;
    while (gone < this.#sizes.length && this.#sizes[gone]!.sequence < keptFrom)
      this.#bytes -= this.#sizes[gone++]!.bytes;
    this.#sizes.splice(0, gone);
  }
}
