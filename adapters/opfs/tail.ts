// Whether the files are still ours alone: by what lies behind our end of the log.
//
// Their handles are for one alone. But when a worker is ended, Chromium gives them away while it finishes the call that it
// is in, which may be a commit. Who opens next waits for that (opening.ts). Should it ever take longer, whoever finds behind
// its end what it did not leave there is over (L4).
import type { Log } from "../wal/log.ts";
import type { RandomAccessFile } from "../wal/random-access-file.ts";
import { endOf, FRAME_HEADER_BYTES, type LogPosition } from "../wal/wal.ts";

export class Tail {
  readonly #file: RandomAccessFile;
  /** The log's size as long as it has no header of ours. */
  #idleBytes = 0;
  /** What lies behind our end. */
  #known: Uint8Array = new Uint8Array(FRAME_HEADER_BYTES);

  constructor(file: RandomAccessFile) {
    this.#file = file;
  }

  /** Whether nobody else has written. */
  isOurs(log: Log | null): boolean {
    if (log === null) return this.#file.size() === this.#idleBytes;
    return log.isSameLog() && isEqual(this.behind(log.position), this.#known);
  }

  /** There is no log of ours. */
  noteIdle(): void {
    this.#idleBytes = this.#file.size();
  }

  /** Our end is there. */
  note(position: LogPosition): void {
    this.#known = this.behind(position);
  }

  /** What lies there, or would: space is zeros. */
  behind(position: LogPosition): Uint8Array {
    const target = new Uint8Array(FRAME_HEADER_BYTES);
    this.#file.read(target, endOf(position));
    return target;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((byte, i) => byte === b[i]);
}
