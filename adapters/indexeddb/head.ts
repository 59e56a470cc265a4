// The head of a database and the blocks of its base, as values. Blocks are written at different times: the head says for
// each at which sequence, and a block that is missing or older than the head says is damage.
import type { Pages } from "../../src/port.ts";
import { wordsOf } from "./checksum.ts";
import {
  CONTRADICTS_ITSELF,
  damaged,
  expectSound,
  getLong,
  type Life,
  newFrame,
  readFrame,
  seal,
  setLong,
} from "./frame.ts";
import { BLOCK_BYTES, isPageSize } from "./layout.ts";

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

/** The head, or what is the matter with it. */
export function readHead(value: unknown): Head | string {
  const frame = readFrame(value, "head");
  if (typeof frame === "string") return frame;
  const { life, sequence, body } = frame;
  // Its checksum keeps it from damage, and from nobody who means it: no number is believed that cannot be.
  if (body.length < FIXED_WORDS || body.length !== FIXED_WORDS + body[1]! * 2) return CONTRADICTS_ITSELF;
  const [pageSize, keptFrom] = [body[0]!, getLong(body, 2)];
  const blocks = Array.from({ length: body[1]! }, (_, block) => getLong(body, FIXED_WORDS + block * 2));
  const hasSize = isPageSize(pageSize) || (pageSize === 0 && blocks.length === 0);
  if (!hasSize || keptFrom > sequence || blocks.some((at) => at > sequence)) return CONTRADICTS_ITSELF;
  return { life, sequence, pageSize, keptFrom, blocks };
}

export function decodeHead(value: unknown, place: string): Head {
  return expectSound(readHead(value), { life: null, what: "its head", where: { part: "base" } }, place);
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

/** A block as stored. */
export interface Block {
  readonly life: Life;
  readonly sequence: number;
  readonly block: number;
  readonly pages: Uint8Array;
}

/** A block, or what is the matter with it. */
export function readBlock(value: unknown): Block | string {
  const frame = readFrame(value, "block");
  if (typeof frame === "string") return frame;
  const { life, sequence, body } = frame;
  if (body.length === 0 || body.length * 4 > BLOCK_BYTES + 4) return CONTRADICTS_ITSELF;
  const { buffer, byteOffset, byteLength } = body.subarray(1);
  return { life, sequence, block: body[0]!, pages: new Uint8Array(buffer, byteOffset, byteLength) };
}

/** The bytes of a block, which must be this one, written when the head says. */
export function decodeBlock(value: unknown, head: Head, block: number, place: string): Uint8Array {
  const { life, blocks, pageSize } = head;
  const what = `block ${block} of its base`;
  const where = { part: "base", page: (block * BLOCK_BYTES) / pageSize + 1 } as const;
  const found = expectSound(readBlock(value), { life, what, where }, place);
  if (found.block !== block || found.sequence !== blocks[block] || found.pages.length % pageSize !== 0) {
    throw damaged(place, `${what} is not the one that its head names`, where);
  }
  return found.pages;
}
