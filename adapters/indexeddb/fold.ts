// Moves what the log says into the base, a slice of blocks at a time, each in one transaction with the head and with the
// end of the records that nobody needs any more. A slice is bounded, so that no commit waits for a whole database (L6).
import type { Pages } from "../../src/port.ts";
import type { Connection } from "./connection.ts";
import type { Life } from "./frame.ts";
import { decodeHead, encodeBlock, encodeHead } from "./head.ts";
import { blockCount, blockKey, blocksFrom, HEAD_KEY, recordKey, recordsBefore } from "./layout.ts";
import type { LogIndex } from "./log-index.ts";

/** Blocks in a slice: 1 MiB. */
const SLICE_BLOCKS = 4;

/** Log kept at the least, so that a small database is not folded all the time. */
const LEAST_FOLD_BYTES = 4 * 1024 * 1024;

/**
 * And the part of a large one. Commits change pages everywhere, so that folding writes nearly the whole base anew: with
 * this, four bytes for each byte of the log. So it is done when there is time. Opening reads what is left besides the base.
 */
const LEAST_FOLD_PART = 1 / 4;

/**
 * Times as long: then commits that give it no time have to fold the log themselves, at half a byte for each of theirs.
 * Longer would be cheaper still for them, and opening after them slower: Chromium reads the log more slowly than the base.
 */
const LONGEST = 8;

/** All of it is folded by the time that the log has grown by such a part. */
const WITHIN = 1 / 4;

export class Folding {
  readonly #foldBytes: number | null;
  /** Bytes the index had noted when it was new, when the log was short enough, or when a slice was tried. */
  #noted = 0;
  /** Grows while it fails in commits: a quota that is used up will be so for a while. */
  #patience = 1;

  constructor(foldBytes: number | null) {
    this.#foldBytes = foldBytes;
  }

  /** The log was read anew. How long it was is no commit's doing: the next ones fold it by and by (L6). */
  begin(index: LogIndex): void {
    this.#noted = index.noted;
  }

  /** Folds what commits have to. Never rejects: the log has all of it, so a failure is for the next time. */
  async fold(connection: Connection, index: LogIndex, sequence: number, pages: Pages): Promise<void> {
    let slices = this.#due(index, pages);
    if (slices === 0) return;
    this.#noted = index.noted;
    try {
      while (slices-- > 0 && (await foldSlice(connection, index, sequence, pages)));
      this.#patience = 1;
    } catch {
      this.#patience *= 2;
    }
  }

  /** Whether the log is longer than it should be when there is time to fold it. */
  isLong(index: LogIndex, pages: Pages): boolean {
    return index.foldable >= this.#short(pages);
  }

  /**
   * One slice while idle. False when nothing is left, when it failed, or when somebody else is ahead of us. Never rejects.
   * A failure makes no commit more patient: it may fail any number of times while the log does not grow at all.
   */
  async slice(connection: Connection, index: LogIndex, sequence: number, pages: Pages): Promise<boolean> {
    try {
      return await foldSlice(connection, index, sequence, pages);
    } catch {
      return false;
    }
  }

  /** Slices that are due now. */
  #due(index: LogIndex, pages: Pages): number {
    const longest = this.#short(pages) * LONGEST;
    if (index.bytes < longest) {
      this.#noted = index.noted;
      return 0;
    }
    const all = Math.ceil(blockCount(pages.pageCount, pages.pageSize) / SLICE_BLOCKS);
    const due = Math.floor(((index.noted - this.#noted) * all) / (longest * WITHIN * this.#patience));
    return Math.min(due, all);
  }

  #short({ pageSize, pageCount }: Pages): number {
    return this.#foldBytes ?? Math.max(LEAST_FOLD_BYTES, pageSize * pageCount * LEAST_FOLD_PART);
  }
}

/** One slice. False when there is nothing left to fold, or somebody else is ahead of us. */
async function foldSlice(connection: Connection, index: LogIndex, sequence: number, pages: Pages): Promise<boolean> {
  const { life, place, platform } = connection;
  const folded = await connection.transactStrictly(async ({ store, ask }) => {
    const newest = ask(store.getKey(recordKey(sequence, 0)));
    const newer = ask(store.getKey(recordKey(sequence + 1, 0)));
    const head = decodeHead(await ask<unknown>(store.get(HEAD_KEY)), place);
    // Our pages are not the newest any more: this would take back what others committed (L4).
    if ((await newest) === undefined || (await newer) !== undefined) return null;
    index.learn(head.blocks, head.keptFrom);
    const last = blockCount(pages.pageCount, pages.pageSize);
    const behind = index.behind().filter(([block]) => block < last);
    const slice = behind.slice(0, SLICE_BLOCKS);
    const blocks = Array.from({ length: last }, (_, block) => head.blocks[block] ?? 0);
    for (const [block] of slice) blocks[block] = sequence;
    // Records after that are needed still, and the newest one always: it is the fence.
    const keptFrom = Math.max(head.keptFrom, behind[SLICE_BLOCKS]?.[1] ?? sequence);
    put(store, life, sequence, pages, slice);
    store.put(encodeHead({ life, sequence, pageSize: pages.pageSize, keptFrom, blocks }), HEAD_KEY);
    if (head.blocks.length > last) store.delete(platform.range(...blocksFrom(last)));
    if (keptFrom > head.keptFrom) store.delete(platform.range(...recordsBefore(keptFrom)));
    return { blocks, keptFrom, isMore: behind.length > SLICE_BLOCKS };
  });
  if (folded !== null) index.learn(folded.blocks, folded.keptFrom);
  return folded?.isMore ?? false;
}

function put(
  store: IDBObjectStore,
  life: Life,
  sequence: number,
  pages: Pages,
  slice: readonly (readonly [block: number, since: number])[],
): void {
  for (const [block] of slice) store.put(encodeBlock(life, sequence, block, pages), blockKey(block));
}
