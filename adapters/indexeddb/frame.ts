// What every stored value begins with: a checksum over the rest, what it is, whose database it belongs to and the
// sequence it was written at. Values are words of 32 bits, in the order of the machine, which is the same on all that
// have browsers; bytes in IndexedDB never leave their machine.
import { type DamageSite, ImageCorrupt } from "../../src/errors.ts";
import { checksum, wordsOf } from "./checksum.ts";

/** Told apart, so that a value under a wrong key is found out. */
const KIND = { head: 0x70640001, block: 0x70640002, record: 0x70640003 } as const;
export type Kind = keyof typeof KIND;

/** One database's life: random, made with it. A database that was deleted and made anew has another one. */
export type Life = readonly [number, number, number, number];

/** Words before the body: checksum, kind, life, sequence. */
export const FRAME_WORDS = 8;

/** No store gets that far; behind it numbers would lose their last digits. */
const LAST_SEQUENCE = 2 ** 52;

const LIFE_AT = 2;
const SEQUENCE_AT = 6;

export function newLife(): Life {
  const [a, b, c, d] = crypto.getRandomValues(new Uint32Array(4));
  return [a!, b!, c!, d!];
}

export const sameLife = (a: Life, b: Life): boolean => a.every((word, i) => word === b[i]);

/** A frame with room for a body. */
export function newFrame(kind: Kind, life: Life, sequence: number, bodyWords: number): Uint32Array {
  const words = new Uint32Array(FRAME_WORDS + bodyWords);
  words[1] = KIND[kind];
  words.set(life, LIFE_AT);
  setLong(words, SEQUENCE_AT, sequence);
  return words;
}

/** The value to store. Nothing may be changed in it any more. */
export function seal(words: Uint32Array): Uint8Array {
  words[0] = checksum(words, 1);
  return new Uint8Array(words.buffer);
}

/** A value that was stored. */
export interface Frame {
  readonly life: Life;
  readonly sequence: number;
  readonly body: Uint32Array;
}

/** Whose a value should be, and what it is called in messages. */
export interface Expectation {
  /** Null when any will do. */
  readonly life: Life | null;
  readonly what: string;
  readonly where: DamageSite;
}

/** A value that has the right checksum and says what cannot be: somebody wrote it who is no store. */
export const CONTRADICTS_ITSELF = "contradicts itself";

/** Opens a stored value, or tells what is the matter with it. */
export function readFrame(value: unknown, kind: Kind): Frame | string {
  if (value === undefined) return "is missing";
  // Not `instanceof`: in workers, values of another realm have been seen.
  if (!ArrayBuffer.isView(value)) return "is something else";
  const words = wordsOf(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value.byteLength % 4 !== 0 || words.length < FRAME_WORDS) return "is cut off";
  if (words[1] !== KIND[kind]) return "is something else";
  if (words[0] !== checksum(words, 1)) return "does not match its checksum";
  const life: Life = [words[2]!, words[3]!, words[4]!, words[5]!];
  const sequence = getLong(words, SEQUENCE_AT);
  if (sequence > LAST_SEQUENCE) return CONTRADICTS_ITSELF;
  return { life, sequence, body: words.subarray(FRAME_WORDS) };
}

/** What was read, when nothing is the matter with it and it is this database's. Throws `ImageCorrupt` otherwise. */
export function expectSound<T extends { readonly life: Life }>(
  read: T | string,
  { life, what, where }: Expectation,
  place: string,
): T {
  if (typeof read === "string") throw damaged(place, `${what} ${read}`, where);
  if (life !== null && !sameLife(life, read.life)) throw damaged(place, `${what} belongs to another database`, where);
  return read;
}

/** Something is missing, or not as it was written. */
export function damaged(place: string, problem: string, where: DamageSite): ImageCorrupt {
  return new ImageCorrupt(place, problem, { where });
}

/** Integers up to 2^53 in two words. */
export function setLong(words: Uint32Array, at: number, value: number): void {
  words[at] = value % 0x100000000;
  words[at + 1] = Math.floor(value / 0x100000000);
}

export const getLong = (words: Uint32Array, at: number): number => words[at]! + words[at + 1]! * 0x100000000;
