// Whether the files are still ours: by what lies behind our end of the log.
//
// Their handles are for one alone. But when a worker is ended, Chromium gives them away while it still runs for a moment,
// and commits. So the next one leaves a mark where its next commit would go, and whoever finds behind its end what it did
// not leave there is over (L4). A commit looks and then writes, and so does who leaves the mark; nothing closes that gap,
// but who was in it is done when the mark is flushed, and then the mark is looked for.
import type { Log } from "../wal/log.ts";
import type { RandomAccessFile } from "../wal/random-access-file.ts";
import { endOf, FRAME_HEADER_BYTES, type LogPosition } from "../wal/wal.ts";

export class Tail {
  readonly #file: RandomAccessFile;
  /** The log's size as long as it has no header of ours. */
  #idleBytes = 0;
  /** What we know to lie behind our end; null when it is not ours. */
  #known: Uint8Array | null = null;

  constructor(file: RandomAccessFile) {
    this.#file = file;
  }

  /** Whether nobody has written since we read, or wrote. */
  isOurs(log: Log | null): boolean {
    if (log === null) return this.#file.size() === this.#idleBytes;
    return log.isSameLog() && this.#known !== null && isEqual(this.behind(log.position), this.#known);
  }

  /** There is no log of ours. */
  noteIdle(): void {
    this.#idleBytes = this.#file.size();
  }

  /** A log that was read. What was committed since begins as if it had been there before. */
  noteRead(log: Log): void {
    const behind = this.behind(log.position);
    this.#known = log.readOn().pageCount === null ? behind : null;
  }

  /** What our end will be followed by, or is. */
  note(behind: Uint8Array): void {
    this.#known = behind;
  }

  /** What lies there, or would: space is zeros. */
  behind(position: LogPosition): Uint8Array {
    const target = new Uint8Array(FRAME_HEADER_BYTES);
    this.#file.read(target, endOf(position));
    return target;
  }

  /** Leaves the mark, not yet flushed: the start of a frame that will never be one, to SQLite a transaction cut short. */
  mark({ position }: Log): void {
    const mark = crypto.getRandomValues(new Uint8Array(FRAME_HEADER_BYTES));
    const view = new DataView(mark.buffer);
    view.setUint32(0, 1);
    view.setUint32(4, 0);
    view.setUint32(8, position.salt1);
    view.setUint32(12, position.salt2);
    this.#file.write(mark, endOf(position));
    this.#known = mark;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((byte, i) => byte === b[i]);
}
