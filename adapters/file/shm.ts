// SQLite's wal-index (`-shm`), which only stock SQLite processes use: they find frames through it without reading the
// log. We keep none; but one that a reader left or still uses must not go on telling of an older log.
import * as fs from "node:fs";
import { closing, openFile } from "./disk.ts";

/** Two copies of the header; zeros make the next reader build its index anew (wal.c, walIndexReadHdr). */
const INDEX_HEADER_BYTES = 96;
/** Bytes of the file that stand for the five read marks (os_unix.c: UNIX_SHM_BASE 120, WAL_READ_LOCK 3…7). */
const FIRST_READ_LOCK = 123;
const LAST_READ_LOCK = 127;

export class WalIndex {
  readonly #path: string;

  constructor(database: string) {
    this.#path = `${database}-shm`;
  }

  /** Makes readers look at the log again. Does nothing when nobody ever read. */
  invalidate(): void {
    if (!fs.existsSync(this.#path)) return;
    const file = openFile(this.#path);
    closing(file, () => file.write(new Uint8Array(INDEX_HEADER_BYTES), 0));
  }

  /**
   * Whether a stock SQLite process is reading right now: then the base and the frames it reads must stay as they are.
   * Linux tells in /proc/locks; elsewhere nobody can, and the answer is no.
   */
  hasReaders(): boolean {
    const locked = this.#lockedRanges() ?? [];
    return locked.some(({ from, to }) => from <= LAST_READ_LOCK && to >= FIRST_READ_LOCK);
  }

  /** Whether a stock SQLite process may have the database open, reading or not. */
  isOpen(): boolean {
    return this.#lockedRanges()?.length !== 0;
  }

  remove(): void {
    fs.rmSync(this.#path, { force: true });
  }

  /** Byte ranges that processes have locked; none when there is no index, null when the system does not tell. */
  #lockedRanges(): { readonly from: number; readonly to: number }[] | null {
    const found = fs.statSync(this.#path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    let locks: string;
    try {
      locks = fs.readFileSync("/proc/locks", "utf8");
    } catch {
      return null;
    }
    return locks.split("\n").flatMap((line) => {
      const [, , , , , file = "", from = "", to = ""] = line.trim().split(/\s+/);
      if (!file.endsWith(`:${found.ino}`)) return [];
      return [{ from: Number(from), to: to === "EOF" ? Infinity : Number(to) }];
    });
  }
}
