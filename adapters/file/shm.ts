// SQLite's wal-index (`-shm`), which only stock SQLite processes use: they find frames through it without reading the
// log. We keep none; but one that a reader left or still uses must not go on telling of an older log.
import * as fs from "node:fs";
import type { Program } from "../wal/program.ts";
import { closing } from "../wal/random-access-file.ts";
import { openFile } from "./disk.ts";

/** Two copies of the header; zeros make the next reader build its index anew (wal.c, walIndexReadHdr). */
const INDEX_HEADER_BYTES = 96;
/** Bytes of the file that stand for locks (os_unix.c: UNIX_SHM_BASE); the first three are held to rebuild the index. */
const FIRST_LOCK = 120;
/** WAL_READ_LOCK(0): held by who reads the base only, the log having been empty. */
const BASE_READ_LOCK = 123;
/** The last of the five read marks. */
const LAST_READ_LOCK = 127;

const READER_WAIT_MS = 0.3;

interface Range {
  readonly from: number;
  readonly to: number;
}

export class WalIndex {
  readonly #path: string;

  constructor(database: string) {
    this.#path = `${database}-shm`;
  }

  /** Makes readers look at the log again. Does nothing when nobody ever read. */
  invalidate(): void {
    if (!fs.existsSync(this.#path)) return;
    try {
      const file = openFile(this.#path);
      closing(file, () => file.write(new Uint8Array(INDEX_HEADER_BYTES), 0));
    } catch {
      // It only serves stock readers: a commit does not fail for it. Without permission to touch it, its owner's readers
      // see our commits when they open the file anew.
    }
  }

  /**
   * Whether a stock SQLite process is reading right now, or rebuilds the index in order to: then the base and the frames
   * it reads must stay as they are. Linux tells in /proc/locks; elsewhere nobody can, and the answer is no.
   */
  hasReaders(): boolean {
    const locked = this.#lockedRanges() ?? [];
    return locked.some(({ from, to }) => from <= LAST_READ_LOCK && to >= FIRST_LOCK);
  }

  /**
   * Waits until none of them can be reading frames of the log; false when one still may after all that time. Looked at
   * twice, the index zeroed after each time: who puts up an index of an old log in between held a lock before, or holds
   * one after.
   */
  *outwaitLogReaders(timeoutMs: number): Program<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.#readsLog() || this.#readsLog()) {
      if (performance.now() > deadline) return false;
      yield { kind: "sleep", ms: READER_WAIT_MS };
    }
    return true;
  }

  #readsLog(): boolean {
    const locked = this.#lockedRanges() ?? [];
    const isBaseOnly = ({ from, to }: Range): boolean => from === BASE_READ_LOCK && to === BASE_READ_LOCK;
    this.invalidate();
    return locked.some((range) => range.from <= LAST_READ_LOCK && range.to >= FIRST_LOCK && !isBaseOnly(range));
  }

  /** Whether a stock SQLite process may have the database open, reading or not. */
  isOpen(): boolean {
    return this.#lockedRanges()?.length !== 0;
  }

  remove(): void {
    fs.rmSync(this.#path, { force: true });
  }

  /** Byte ranges that processes have locked; none when there is no index, null when the system does not tell. */
  #lockedRanges(): Range[] | null {
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
