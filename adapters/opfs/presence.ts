// Whether the files that are open are still the ones a newcomer would find. Who clears the site's data takes them away
// behind open handles; Chromium's handles then go on taking writes that nobody will ever read. No synchronous call can
// tell, so it is asked in between, and the next operation is refused.
import { domName, StorageRefused } from "../../src/errors.ts";
import { readHeader, WAL_HEADER_BYTES } from "../wal/wal.ts";
import { logNameOf, type Where } from "./opening.ts";

/** Asking takes the browser a millisecond, though not this thread. */
const ASK_EVERY_MS = 1000;

/** By what a log is known: the salts, which are random. */
interface Salts {
  readonly salt1: number;
  readonly salt2: number;
}

export class Presence {
  readonly #where: Where;
  /** The log's, or null as long as it has none. */
  readonly #salts: () => Salts | null;
  #loss: "cleared" | "closed" | null = null;
  #asked: number = performance.now();

  constructor(where: Where, salts: () => Salts | null) {
    this.#where = where;
    this.#salts = salts;
  }

  /** Whether there is nothing to put right any more. */
  get isLost(): boolean {
    return this.#loss !== null;
  }

  /** Chromium never comes back from closing the handle of a file that was cleared away, and takes its thread along. */
  get mayClose(): boolean {
    return this.#loss !== "cleared";
  }

  /** Throws `StorageRefused` when the files are known to be lost. */
  demand(): void {
    const place = this.#where.name;
    if (this.#loss === "cleared") {
      const problem = "the browser removed it while it was open (site data was cleared); open it again to start anew";
      throw new StorageRefused("storage-missing", place, problem);
    }
    if (this.#loss === "closed") {
      throw new StorageRefused("storage-replaced", place, "the browser closed it; open it again to go on");
    }
  }

  /** A handle says that it is closed. */
  noteClosed(): void {
    this.#loss ??= "closed";
  }

  /** Asks, unless that was done a moment ago. For those that come later. */
  askSometimes(): void {
    if (this.#loss !== null || performance.now() - this.#asked < ASK_EVERY_MS) return;
    this.#asked = performance.now();
    void this.ask();
  }

  /** Asks. Never rejects: what cannot be answered is no loss. */
  async ask(): Promise<void> {
    const { directory, name } = this.#where;
    try {
      await directory.getFileHandle(name);
      const log = await directory.getFileHandle(logNameOf(name));
      const before = this.#salts();
      if (before === null || log.getFile === undefined) return;
      const file = await log.getFile();
      const found = readHeader(new Uint8Array(await file.slice(0, WAL_HEADER_BYTES).arrayBuffer()));
      // Another one may lie in the place of ours. While it was read, ours may have been started over.
      if (isSame(this.#salts(), before) && !isSame(found, before)) this.#loss ??= "cleared";
    } catch (error) {
      if (domName(error) === "NotFoundError") this.#loss ??= "cleared";
    }
  }
}

const isSame = (a: Salts | null, b: Salts): boolean => a !== null && a.salt1 === b.salt1 && a.salt2 === b.salt2;
