// The head of a database and the blocks of its base, as values. Blocks are written at different times: the head says for
// each at which sequence, and a block that is missing or older than the head says is damage.
import type { Pages } from "../../src/port.ts";
import { wordsOf } from "./checksum.ts";
import { damaged, getLong, type Life, newFrame, seal, setLong, unseal } from "./frame.ts";
import { BLOCK_BYTES } from "./layout.ts";

export interface Head {
  readonly life: Life;
  /** Where the log stood when something was folded last. */
  readonly sequence: number;
  /** 0 as long as nothing was folded. */
  readonly pageSize: number;
  /** The oldest record that is still there. The newest one always is. */
  readonly keptFrom: number;
  /** For each block of the base the sequence it was written at; 0 for one that was never written. */
  readonly blocks: readonly number[];
}

const FIXED_WORDS = 4;

export function encodeHead({ life, sequence, pageSize, keptFrom, blocks }: Head): Uint8Array {
  const words = newFrame("head", life, sequence, FIXED_WORDS + blocks.length * 2);
  const body = words.subarray(words.length - FIXED_WORDS - blocks.length * 2);
  body[0] = pageSize;
  body[1] = blocks.length;
  setLong(body, 2, keptFrom);
  for (const [block, at] of blocks.entries()) setLong(body, FIXED_WORDS + block * 2, at);
  return seal(words);
}

export function decodeHead(value: unknown, place: string): Head {
  const { life, sequence, body } = unseal(
    value,
    { kind: "head", life: null, what: "its head", where: { part: "base" } },
    place,
  );
  const blocks = Array.from({ length: body[1]! }, (_, block) => getLong(body, FIXED_WORDS + block * 2));
  return { life, sequence, pageSize: body[0]!, keptFrom: getLong(body, 2), blocks };
}

/** A block of `pages`, which may be shorter at the end of the database. The copy is made now. */
export function encodeBlock(life: Life, sequence: number, block: number, pages: Pages): Uint8Array {
  const { pageSize, pageCount } = pages;
  const perBlock = BLOCK_BYTES / pageSize;
  const first = block * perBlock + 1;
  const count = Math.min(perBlock, pageCount - first + 1);
  const words = newFrame("block", life, sequence, 1 + (count * pageSize) / 4);
  const at = words.length - (count * pageSize) / 4;
  words[at - 1] = block;
  for (let i = 0; i < count; i++) words.set(wordsOf(pages.page(first + i)), at + (i * pageSize) / 4);
  return seal(words);
}

/** The bytes of a block, which must be this one, written when the head says. */
export function decodeBlock(value: unknown, head: Head, block: number, place: string): Uint8Array {
  const { life, blocks, pageSize } = head;
  const what = `block ${block} of its base`;
  const where = { part: "base", page: (block * BLOCK_BYTES) / pageSize + 1 } as const;
  const frame = unseal(value, { kind: "block", life, what, where }, place);
  const pages = frame.body.subarray(1);
  if (frame.body[0] !== block || frame.sequence !== blocks[block] || (pages.length * 4) % pageSize !== 0) {
    throw damaged(place, `${what} is not the one that its head names`, where);
  }
  return new Uint8Array(pages.buffer, pages.byteOffset, pages.byteLength);
}
