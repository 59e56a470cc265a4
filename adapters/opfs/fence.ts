// Keeps a worker that was ended from writing into files that are the next one's (L4). Knows handles, and nothing of what
// is written.
//
// Handles are for one alone; but a browser may give them away while a worker that it ended is still finishing a call: a
// commit, a checkpoint of hundreds of megabytes, a close. So who finds a log, which nobody closed then, claims the files,
// waits, and reads when its claim is still there (opening.ts); and every write looks for a claim right before it is made.
// A claim is the log's size: the owner knows it to the byte, to ask for it costs less than a microsecond, and neither SQLite
// nor we mind zeros behind the frames. It is odd; what is written ends at even sizes.
//
// Why nothing is lost that either of them acknowledged (claim, wait, look: Fischer's mutual exclusion): a write of the ended
// worker that would come after the claim is refused. One that looked before the claim is over when the wait is, and is read
// with the rest, whatever it was:
// - frames: their commit is there when they are whole, and none that is not was acknowledged;
// - a page of the file, or its end: the log still holds all that the file may lack, since nobody starts it over unless the
//   file has everything and is durable; the first commit is whole in the log before the file has any of it;
// - the log's header, or an emptied log: the file had everything before.
// Where it undid the claim, by growing or cutting off the log, the opener claims and waits again. Two that open at once do so
// until one of them is gone.
// What remains: a worker that is ended, and is held up between a look and the write right after it, or in that one write,
// for longer than the wait. It may write over what the next one has committed meanwhile.
import { StorageRefused } from "../../src/errors.ts";
import { randomSalt } from "../wal/log.ts";
import { FRAME_HEADER_BYTES, WAL_HEADER_BYTES } from "../wal/wal.ts";
import type { SyncAccessHandle } from "./platform.ts";

/** Much more is not written without a look. */
const PIECE_BYTES = 256 * 1024;
const MOST_PAIRS = 2048;
/**
 * A power cut may cut a log to a size of ours without having emptied it before: then a header must be left of it, or nobody
 * could tell what it was (`isSomethingElse`).
 */
const LEAST_PAIRS = (WAL_HEADER_BYTES + FRAME_HEADER_BYTES) / 2;

export class Fence {
  readonly #place: string;
  /** Null until it is open. */
  #log: SyncAccessHandle | null = null;
  /** The log's size as we left it. */
  #bytes = 0;
  /** Its size when it was claimed, and then. */
  #found = 0;
  #claimed = 0;
  /** Sizes that we cut it to are ours as well. */
  readonly #spare: number;
  readonly #chance: () => number;

  constructor(place: string, chance: () => number = randomSalt) {
    this.#place = place;
    this.#chance = chance;
    this.#spare = this.#aFew() | 1;
  }

  /** The base, each of its writes behind a look. */
  overBase(handle: SyncAccessHandle): SyncAccessHandle {
    return {
      ...through(handle),
      write: (bytes, options) => {
        this.demand();
        return handle.write(piece(bytes), options);
      },
      truncate: (bytes) => {
        this.demand();
        handle.truncate(bytes);
      },
    };
  }

  /** The log, likewise. */
  overLog(handle: SyncAccessHandle): SyncAccessHandle {
    this.#log = handle;
    this.#bytes = handle.getSize();
    return {
      ...through(handle),
      write: (bytes, { at }) => {
        this.demand();
        try {
          const count = handle.write(piece(bytes), { at });
          this.#bytes = Math.max(this.#bytes, at + count);
          return count;
        } catch (error) {
          this.#noteHalf(at + bytes.length);
          throw error;
        }
      },
      truncate: (bytes) => {
        this.demand();
        // In two steps, so that nothing of what is cut off stays in the spare bytes.
        this.#resize(bytes);
        this.#resize(bytes + this.#spare);
      },
    };
  }

  /** Makes the files ours: whoever had them is refused from now on. */
  claim(): void {
    const log = this.#log!;
    this.#found = this.#bytes = log.getSize();
    this.#claimed = (this.#found + this.#aFew()) | 1;
    try {
      this.#resize(this.#claimed);
    } catch {
      // No room for it. What is stored can be read all the same, and others' commits behind our end are seen (tail.ts).
    }
  }

  /** Takes the claim back, where nothing came of it: what is refused stays as it was found (L7). */
  withdraw(): void {
    if (this.#log === null || this.#bytes !== this.#claimed) return;
    try {
      if (this.isOurs()) this.#resize(this.#found);
    } catch {
      // Zeros behind a log.
    }
  }

  isOurs(): boolean {
    return this.#log === null || this.#log.getSize() === this.#bytes;
  }

  /** Throws `StorageRefused` when somebody else has claimed the files. */
  demand(): void {
    if (!this.isOurs()) throw replaced(this.#place);
  }

  /** A write that failed may have got as far as that: so much is ours. A claim is odd, and this is not. */
  #noteHalf(end: number): void {
    try {
      const bytes = this.#log!.getSize();
      if (bytes % 2 === 0 && bytes > this.#bytes && bytes <= end) this.#bytes = bytes;
    } catch {
      // Closed behind us: what failed before is what is told.
    }
  }

  /** An even number of bytes. */
  #aFew(): number {
    return 2 * (LEAST_PAIRS + (this.#chance() % MOST_PAIRS));
  }

  #resize(bytes: number): void {
    this.#log!.truncate(bytes);
    this.#bytes = bytes;
  }
}

export function replaced(place: string): StorageRefused {
  return new StorageRefused("storage-replaced", place, "another worker has it now; open it again to go on");
}

const piece = (bytes: Uint8Array): Uint8Array => (bytes.length > PIECE_BYTES ? bytes.subarray(0, PIECE_BYTES) : bytes);

function through(handle: SyncAccessHandle): Pick<SyncAccessHandle, "read" | "getSize" | "flush" | "close"> {
  return {
    read: (target, options) => handle.read(target, options),
    getSize: () => handle.getSize(),
    flush: () => handle.flush(),
    close: () => handle.close(),
  };
}
