// What lies behind our end of the log. A worker that was ended is refused by a claim (fence.ts); should a commit of its come
// through all the same, or should there have been no room for a claim, who finds it writes nothing over it (L4).
import type { Log } from "../wal/log.ts";
import type { RandomAccessFile } from "../wal/random-access-file.ts";
import { endOf, FRAME_HEADER_BYTES, type LogPosition } from "../wal/wal.ts";

export class Tail {
  readonly #file: RandomAccessFile;
  readonly #known: Uint8Array = new Uint8Array(FRAME_HEADER_BYTES);
  readonly #found: Uint8Array = new Uint8Array(FRAME_HEADER_BYTES);

  constructor(file: RandomAccessFile) {
    this.#file = file;
  }

  /** Whether nobody else has written there, or started the log over. */
  isOurs(log: Log | null): boolean {
    if (log === null) return true;
    // Started over by somebody else, all that we append would lie behind a header of his.
    if (!log.isSameLog()) return false;
    this.#readBehind(log.position, this.#found);
    return this.#found.every((byte, i) => byte === this.#known[i]);
  }

  /** Our end is there. */
  note(position: LogPosition): void {
    this.#readBehind(position, this.#known);
  }

  /** What lies there, or would: space is zeros. */
  #readBehind(position: LogPosition, target: Uint8Array): void {
    const count = this.#file.read(target, endOf(position));
    if (count < target.length) target.fill(0, count);
  }
}
