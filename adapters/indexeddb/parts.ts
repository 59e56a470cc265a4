// A record as the values it is stored in: parts small enough for the browser's fast path, all written in one
// transaction. A record that is not whole is damage: a transaction is there or it is not.
import {
  CONTRADICTS_ITSELF,
  damaged,
  expectSound,
  FRAME_WORDS,
  type Life,
  newFrame,
  readFrame,
  seal,
} from "./frame.ts";
import { PART_BYTES } from "./layout.ts";

/** Which part this is, how many there are, and the token. */
const PART_WORDS = 4;
const CHUNK_WORDS = PART_BYTES / 4 - FRAME_WORDS - PART_WORDS;

/** Each append's own, to know a record again whose outcome was not told. */
export type Token = readonly [number, number];

export function newToken(): Token {
  const [a, b] = crypto.getRandomValues(new Uint32Array(2));
  return [a!, b!];
}

/** One that nobody else has either. Asking for random numbers each time takes as long as a statement. */
export const tokenAfter = ([a, b]: Token): Token => [a, (b + 1) >>> 0];

export const sameToken = (a: Token, b: Token): boolean => a[0] === b[0] && a[1] === b[1];

/** One record of the log. */
export interface LogRecord {
  readonly sequence: number;
  readonly token: Token;
  readonly body: Uint32Array;
  /** Bytes as stored. */
  readonly bytes: number;
}

/** A part as stored. */
export interface Part {
  readonly life: Life;
  readonly sequence: number;
  readonly part: number;
  readonly parts: number;
  readonly token: Token;
  readonly words: Uint32Array;
  readonly bytes: number;
}

export function encodeParts(life: Life, sequence: number, token: Token, body: Uint32Array): Uint8Array[] {
  const parts = Math.max(1, Math.ceil(body.length / CHUNK_WORDS));
  return Array.from({ length: parts }, (_, part) => {
    const chunk = body.subarray(part * CHUNK_WORDS, (part + 1) * CHUNK_WORDS);
    const words = newFrame("record", life, sequence, PART_WORDS + chunk.length);
    words.set([part, parts, ...token], FRAME_WORDS);
    words.set(chunk, FRAME_WORDS + PART_WORDS);
    return seal(words);
  });
}

/** A part, or what is the matter with it. */
export function readPart(value: unknown): Part | string {
  const frame = readFrame(value, "record");
  if (typeof frame === "string") return frame;
  const { life, sequence, body } = frame;
  const [part = 0, parts = 0, a = 0, b = 0] = body.subarray(0, PART_WORDS);
  if (body.length < PART_WORDS || part >= parts) return CONTRADICTS_ITSELF;
  const bytes = (FRAME_WORDS + body.length) * 4;
  return { life, sequence, part, parts, token: [a, b], words: body.subarray(PART_WORDS), bytes };
}

/** Opens what was found after record `after`. */
export function decodePart(value: unknown, life: Life, after: number, place: string): Part {
  const what = `a record of its log after number ${after}`;
  return expectSound(readPart(value), { life, what, where: { part: "log", frame: after + 1 } }, place);
}

/** Puts parts together as they come, in the order of their keys. */
export class Joiner {
  readonly #life: Life;
  readonly #place: string;
  #next: number;
  #waiting: Part[] = [];

  /** The first record will be number `next`. */
  constructor(life: Life, next: number, place: string) {
    this.#life = life;
    this.#next = next;
    this.#place = place;
  }

  /** The sequence and part that come next. */
  get next(): readonly [number, number] {
    return [this.#next, this.#waiting.length];
  }

  /** Takes one more value. Gives the record that it completes, or null. */
  take(value: unknown): LogRecord | null {
    const part = decodePart(value, this.#life, this.#next - 1, this.#place);
    const [first = part] = this.#waiting;
    if (part.sequence !== this.#next || part.part !== this.#waiting.length || !sameToken(part.token, first.token)) {
      this.#missing();
    }
    this.#waiting.push(part);
    if (this.#waiting.length < part.parts) return null;
    const parts = this.#waiting;
    this.#waiting = [];
    this.#next++;
    return joined(parts);
  }

  /** Nothing more is there. Throws `ImageCorrupt` when a record is not whole. */
  end(): void {
    if (this.#waiting.length > 0) this.#missing();
  }

  #missing(): never {
    const problem = `part ${this.#waiting.length} of record ${this.#next} of its log is missing`;
    throw damaged(this.#place, problem, { part: "log", frame: this.#next });
  }
}

export function joined(parts: readonly Part[]): LogRecord {
  const [{ sequence, token, words, bytes }] = parts as [Part];
  if (parts.length === 1) return { sequence, token, body: words, bytes };
  const body = new Uint32Array(parts.reduce((sum, part) => sum + part.words.length, 0));
  let at = 0;
  let total = 0;
  for (const part of parts) {
    body.set(part.words, at);
    at += part.words.length;
    total += part.bytes;
  }
  return { sequence, token, body, bytes: total };
}
