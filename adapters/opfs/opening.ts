// Opens a database file and its log for this store alone, or refuses and leaves them as they are. To have the database's
// own handle is the lease: the browser gives it to one at a time and takes it from who dies. The log's comes after it.
import { domName, ImageCorrupt, StorageRefused, StoreBusy } from "../../src/errors.ts";
import type { LoadedImage } from "../../src/port.ts";
import { loadImage, readHeaderOf } from "../wal/base.ts";
import { committed, refuseOtherLog } from "../wal/database-file.ts";
import { isSomethingElse, scanLog } from "../wal/log.ts";
import { closing, type RandomAccessFile, readPart } from "../wal/random-access-file.ts";
import type { Scanned } from "../wal/wal.ts";
import { refusal, unsupported } from "./failures.ts";
import { Fence } from "./fence.ts";
import { fileOver } from "./handle-file.ts";
import { isBrowsers, type OpfsDirectory, type SyncAccessHandle } from "./platform.ts";

const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 30;

/** What a worker that was ended needs at the most from a look to the end of the write behind it (fence.ts). */
const LAST_WRITE_MS = 100;

/** The browser does not tell who has a handle. */
const ANOTHER = "another store of this site, in a worker or a tab";

/** A folder with a name in it, and until when to wait for others. */
export interface Where {
  readonly directory: OpfsDirectory;
  readonly name: string;
  readonly busyTimeoutMs: number;
  readonly start: number;
}

/** What was found in both files. */
interface Found {
  readonly image: LoadedImage;
  /** The log, when it has a header. */
  readonly scanned: Scanned | null;
  /** Whether the log alone holds the database: its first commit was cut short before it reached the file. */
  readonly isFileLost: boolean;
}

export interface Opened {
  readonly base: RandomAccessFile;
  readonly log: RandomAccessFile;
  /** Null when nothing was ever committed. */
  readonly found: Found | null;
  readonly madeLog: boolean;
  readonly fence: Fence;
}

export const logNameOf = (name: string): string => `${name}-wal`;

/** Both files, open, and what they hold. Throws `StorageRefused`, `ImageCorrupt`, `StoreBusy`. */
export async function openBoth(where: Where, mustExist: boolean): Promise<Opened> {
  const open: RandomAccessFile[] = [];
  const fence = new Fence(where.name, where.directory.chance);
  const overBase: Wrap = (handle) => fence.overBase(handle);
  const overLog: Wrap = (handle) => fence.overLog(handle);
  try {
    const base = (await take(where, where.name, false, overBase)) ?? (await makeBase(where, mustExist, overBase));
    open.push(base);
    await refuseHotJournal(where);
    const old = await take(where, logNameOf(where.name), false, overLog);
    if (old !== null) open.push(old);
    // Nobody closed it. What is no log is no store's, and stays as it is.
    if (old !== null && !isSomethingElse(old)) await claim(where, fence);
    const found = examine(where.name, base, old);
    if (found === null && mustExist) throw missing(where.name);
    const log = old ?? (await make(where, logNameOf(where.name), overLog));
    if (old === null) {
      open.push(log);
      fence.claim();
    }
    return { base, log, found, madeLog: old === null, fence };
  } catch (error) {
    fence.withdraw();
    for (const file of open) file.close();
    throw refusal(where.name, error);
  }
}

/** Stops the worker that had the files, which may be gone for the browser and still be writing (L4). */
async function claim(where: Where, fence: Fence): Promise<void> {
  for (;;) {
    fence.claim();
    if (!isBrowsers(where.directory)) return;
    await sleep(LAST_WRITE_MS);
    if (fence.isOurs()) return;
    const waited = performance.now() - where.start;
    if (waited >= where.busyTimeoutMs) throw new StoreBusy(where.name, Math.round(waited), ANOTHER);
  }
}

/** Removes a log that is closed and has nothing in it. Needs the lease. */
export function removeLog({ directory, name }: Where): Promise<void> {
  return directory.removeEntry(logNameOf(name));
}

/** Removes everything: what lies beside the file while its handle is held, then the file. */
export async function removeBoth(where: Where): Promise<void> {
  const base = await take(where, where.name, false);
  try {
    for (const ending of ["-wal", "-journal"]) await removeIfThere(where, `${where.name}${ending}`);
  } finally {
    base?.close();
  }
  await removeIfThere(where, where.name);
}

async function removeIfThere({ directory, name }: Where, entry: string): Promise<void> {
  try {
    await directory.removeEntry(entry);
  } catch (error) {
    const reason = domName(error);
    if (reason === "NoModificationAllowedError") throw new StoreBusy(name, 0, ANOTHER);
    if (reason !== "NotFoundError") throw error;
  }
}

type Wrap = (handle: SyncAccessHandle) => SyncAccessHandle;

/** The file's handle, which nobody else has then; null when there is no file. Waits for who has it. */
async function take(
  where: Where,
  name: string,
  create: boolean,
  wrap: Wrap = (handle) => handle,
): Promise<RandomAccessFile | null> {
  let wait = FIRST_WAIT_MS;
  for (;;) {
    try {
      const file = await where.directory.getFileHandle(name, { create });
      if (file.createSyncAccessHandle === undefined) throw unsupported(where.name);
      return usable(await file.createSyncAccessHandle(), where.name, wrap);
    } catch (error) {
      const reason = domName(error);
      if (reason === "NotFoundError" && !create) return null;
      // Not found although made: somebody took it away before it was open.
      if (reason !== "NoModificationAllowedError" && reason !== "NotFoundError") throw error;
      const waited = performance.now() - where.start;
      const left = where.busyTimeoutMs - waited;
      if (left <= 0) {
        if (reason === "NotFoundError") throw error;
        throw new StoreBusy(where.name, Math.round(waited), ANOTHER);
      }
      // Jitter, or waiters would go on colliding.
      await sleep(Math.min(left, wait * (0.5 + Math.random())));
      wait = Math.min(wait * 1.5, LONGEST_WAIT_MS);
    }
  }
}

/** Before Safari 16.4 its calls gave promises. */
function usable(handle: SyncAccessHandle, place: string, wrap: Wrap): RandomAccessFile {
  try {
    if (typeof handle.getSize() === "number") return fileOver(wrap(handle));
    throw unsupported(place);
  } catch (error) {
    handle.close();
    throw error;
  }
}

async function make(where: Where, name: string, wrap: Wrap): Promise<RandomAccessFile> {
  return (await take(where, name, true, wrap))!;
}

async function makeBase(where: Where, mustExist: boolean, wrap: Wrap): Promise<RandomAccessFile> {
  await refuseAbandonedLog(where);
  if (mustExist) throw missing(where.name);
  return make(where, where.name, wrap);
}

/** A log without its file: what is in it may be all that is left (L7). */
async function refuseAbandonedLog(where: Where): Promise<void> {
  const log = await take(where, logNameOf(where.name), false);
  if (log === null) return;
  const isEmpty = closing(log, () => committed(scanLog(log)) === null && !isSomethingElse(log));
  // Unless somebody has made the file since we looked.
  if (isEmpty || (await exists(where))) return;
  throw new ImageCorrupt(where.name, "the database is gone, but something lies there as its log (-wal)");
}

async function exists({ directory, name }: Where): Promise<boolean> {
  try {
    await directory.getFileHandle(name);
    return true;
  } catch (error) {
    if (domName(error) === "NotFoundError") return false;
    throw error;
  }
}

/** Other ways to have SQLite in a browser keep a rollback journal: half a transaction may be in the file. */
async function refuseHotJournal(where: Where): Promise<void> {
  const journal = await take(where, `${where.name}-journal`, false);
  if (journal === null) return;
  const [first = 0] = closing(journal, () => readPart(journal, 0, 1));
  if (first === 0) return;
  const problem = "a transaction of another program is unfinished (-journal); let that program open it and roll back";
  throw new StorageRefused("hot-journal", where.name, problem);
}

/** What both files hold together; null when nothing was ever committed. Reads only. */
function examine(place: string, base: RandomAccessFile, log: RandomAccessFile | null): Found | null {
  const scanned = log === null ? null : scanLog(log);
  const isOther = log !== null && scanned === null && isSomethingElse(log);
  const logged = committed(scanned);
  if (base.size() === 0 && logged === null) {
    refuseOtherLog(place, 0, null, isOther);
    // A file is made before its first commit: there is no other way to have its handle in time.
    return null;
  }
  const isFileLost = logged !== null && hasEveryPage(logged) && !isDatabase(base, place);
  if (!isFileLost && base.size() === 0) {
    const problem = "the file is empty, and its log (-wal) does not hold all of it";
    throw new ImageCorrupt(place, problem, { where: { part: "base", offset: 0 } });
  }
  const { pageSize } = isFileLost ? logged.position : readHeaderOf(base, place);
  refuseOtherLog(place, pageSize, scanned, isOther);
  return { image: loadImage(place, base, pageSize, logged), scanned, isFileLost };
}

function isDatabase(file: RandomAccessFile, place: string): boolean {
  try {
    readHeaderOf(file, place);
    return true;
  } catch (error) {
    if (error instanceof StorageRefused && error.code === "not-a-database") return false;
    throw error;
  }
}

function hasEveryPage({ pages, pageCount }: Scanned): boolean {
  for (let number = 1; number <= pageCount!; number++) if (!pages.has(number)) return false;
  return true;
}

function missing(place: string): StorageRefused {
  return new StorageRefused("storage-missing", place, "nothing was ever stored there (mustExist)");
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
