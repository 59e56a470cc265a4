// The file by which a store is known to other processes: who it is, whether it is writing right now, and whose last
// write it must let finish. The lock file is a hard link to the holder's, so reading either tells the same. Marks are
// single bytes and short words written in place: nothing of it needs a sync, and the directory is left alone.
import * as fs from "node:fs";
import { systemCode } from "../../src/errors.ts";
import type { Reached } from "../wal/lineage.ts";
import { writeAll } from "./disk.ts";
import { keepLocked } from "./flock.ts";
import { identityOf } from "./in-place.ts";
import { isToken, type Owner, parseOwner } from "./owner.ts";

/**
 * "1" while the holder writes; the log's salt and frames when it last stopped writing, in hex, or spaces; a newline; the
 * predecessor's token or spaces; a newline; the owner as JSON.
 */
const REACHED_AT = 1;
const REACHED_BYTES = 16;
const PREDECESSOR_AT = REACHED_AT + REACHED_BYTES + 1;
const TOKEN_BYTES = 32;
const OWNER_AT = PREDECESSOR_AT + TOKEN_BYTES + 1;
const MOST_BYTES = 4096;
const WRITING = Uint8Array.of(0x31);
const RESTING = Uint8Array.of(0x30);
const HEX = new TextEncoder().encode("0123456789abcdef");

/** What an owner or lock file says. */
export interface Sighting {
  readonly owner: Owner;
  readonly isWriting: boolean;
  /** Who may still be writing under a lock that is no longer its own. */
  readonly predecessor: string | null;
  /** How far it had got in the log when it last stopped writing; null when that is not known. */
  readonly reached: Reached | null;
}

/** What a lock or owner file says; null when it is gone. One cut short by a power failure names nobody. */
export function readOwnerFile(file: string): Sighting | null {
  const text = readStart(file);
  if (text === null) return null;
  const predecessor = text.slice(PREDECESSOR_AT, PREDECESSOR_AT + TOKEN_BYTES).trim();
  return {
    owner: parseOwner(text.slice(OWNER_AT)),
    isWriting: text.startsWith("1"),
    predecessor: isToken(predecessor) ? predecessor : null,
    reached: parseReached(text.slice(REACHED_AT, REACHED_AT + REACHED_BYTES)),
  };
}

/** Our own. */
export class OwnerFile {
  readonly path: string;
  readonly token: string;
  readonly #fd: number;
  readonly #unlock: () => void;
  readonly #rest: Uint8Array = new Uint8Array(REACHED_AT + REACHED_BYTES).fill(0x30);

  constructor(path: string, owner: Owner, mode: number) {
    this.path = path;
    this.token = owner.token;
    this.#fd = fs.openSync(path, "wx+", mode);
    try {
      writeAll(this.#fd, new TextEncoder().encode(formatOwnerFile(owner)), 0);
      this.#unlock = keepLocked(path);
    } catch (error) {
      fs.closeSync(this.#fd);
      fs.rmSync(path, { force: true });
      throw error;
    }
  }

  /** Whether a link that was opened leads to this very file. */
  isSame(fd: number): boolean {
    return identityOf(fd) === identityOf(this.#fd);
  }

  mark(isWriting: boolean): void {
    writeAll(this.#fd, isWriting ? WRITING : RESTING, 0);
  }

  /** Not writing any more, and how far that went: in one write, so that it costs a commit nothing. */
  markReached({ salt1, frames }: Reached): void {
    writeHex(this.#rest, REACHED_AT, salt1);
    writeHex(this.#rest, REACHED_AT + REACHED_BYTES / 2, frames);
    writeAll(this.#fd, this.#rest, 0);
  }

  follow(predecessor: string | null): void {
    const text = (predecessor ?? "").padEnd(TOKEN_BYTES);
    writeAll(this.#fd, new TextEncoder().encode(text), PREDECESSOR_AT);
  }

  close(): void {
    this.abandon();
    fs.rmSync(this.path, { force: true });
  }

  /** Lets go of the file, whatever is at its path now. */
  abandon(): void {
    fs.closeSync(this.#fd);
    this.#unlock();
  }
}

/** The text of an owner file. */
export function formatOwnerFile(owner: unknown, isWriting = false, predecessor = ""): string {
  return `${isWriting ? "1" : "0"}${" ".repeat(REACHED_BYTES)}\n${predecessor.padEnd(TOKEN_BYTES)}\n${JSON.stringify(owner)}`;
}

/** The start of a file, more than an owner file ever holds; null when there is no file. */
function readStart(file: string): string | null {
  let fd: number;
  try {
    fd = fs.openSync(file, "r");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
  try {
    const bytes = new Uint8Array(MOST_BYTES);
    return new TextDecoder().decode(bytes.subarray(0, fs.readSync(fd, bytes, 0, MOST_BYTES, 0)));
  } finally {
    fs.closeSync(fd);
  }
}

function parseReached(text: string): Reached | null {
  if (!/^[0-9a-f]{16}$/.test(text)) return null;
  return { salt1: Number.parseInt(text.slice(0, 8), 16), frames: Number.parseInt(text.slice(8), 16) };
}

function writeHex(target: Uint8Array, at: number, value: number): void {
  for (let i = 0; i < 8; i++) target[at + i] = HEX[(value >>> (28 - 4 * i)) & 0xf]!;
}
