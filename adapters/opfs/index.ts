// The adapter for dedicated workers: a SQLite file with its log in the origin private file system, flushed before a call
// returns. Opening waits, and so does tidying up; everything in between is synchronous.
import { StorageRefused } from "../../src/errors.ts";
import { pagesOf, type Position, type SyncAdapter } from "../../src/port.ts";
import { type DatabaseFile, readDatabaseFile } from "../wal/database-file.ts";
import { runBlocking } from "../wal/program.ts";
import type { LogPosition } from "../wal/wal.ts";
import { refusal } from "./failures.ts";
import { isClosed } from "./handle-file.ts";
import { type Opened, openBoth, removeBoth, removeLog, type Where } from "./opening.ts";
import { ALL, checkCall, type OpfsOptions, type OpfsPlaceOptions, PLACE_ONLY } from "./options.ts";
import { endWithPage, rootDirectory } from "./platform.ts";
import { Presence } from "./presence.ts";
import { OpfsStorage } from "./storage.ts";

export type { DatabaseFile } from "../wal/database-file.ts";
export type { OpfsOptions, OpfsPlaceOptions } from "./options.ts";
export type { OpfsDirectory, OpfsFileHandle, SyncAccessHandle } from "./platform.ts";

/** An adapter that has its files open since it was made. */
export interface OpfsAdapter extends SyncAdapter {
  /** Settles once `close` has given everything back: removing the emptied log is nothing that a synchronous call can do. */
  readonly closed: Promise<void>;
}

const DEFAULT_BUSY_TIMEOUT_MS = 5000;

/** Names that stores of this thread are giving back. */
const leaving = new Map<string, Promise<void>>();

/**
 * Opens the database `name` for one store: `SqliteStore.create(await openOpfs("orders.db"))`. Nobody else can open it
 * until that store is closed.
 *
 * @throws StorageRefused, ImageCorrupt, StoreBusy, RecordInvalid, FlushFailed
 */
export async function openOpfs(name: string, options: OpfsOptions = {}): Promise<OpfsAdapter> {
  checkCall("openOpfs", name, options, ALL);
  const where = await find(name, options);
  return adapterOn(where, options, await openBoth(where, options.mustExist ?? false));
}

/**
 * Lays a database file, with what its log adds, where nothing was ever stored; all of it or nothing.
 *
 * @throws StorageRefused (`storage-exists` when there is a database), ImageCorrupt, StoreBusy, RecordInvalid, FlushFailed
 */
export async function importOpfs(name: string, files: DatabaseFile, options: OpfsPlaceOptions = {}): Promise<void> {
  checkCall("importOpfs", name, options, PLACE_ONLY);
  const image = readDatabaseFile(files, name);
  const where = await find(name, options);
  const adapter = adapterOn(where, options, await openBoth(where, false));
  const pages = pagesOf(image);
  let isDone = false;
  try {
    const { pageCount, position } = adapter.load();
    if (pageCount > 0) throw new StorageRefused("storage-exists", name, "there is a database already; delete it first");
    const numbers = Array.from({ length: image.pageCount }, (_, i) => i + 1);
    adapter.append({ ...image, pages: new Map(numbers.map((number) => [number, pages.page(number)])) }, position);
    isDone = true;
  } finally {
    adapter.close(isDone ? pages : null);
    await adapter.closed;
  }
}

/** Deletes a database with all that lies beside it; nothing when there is none. @throws StoreBusy, StorageRefused */
export async function deleteOpfs(name: string, options: OpfsPlaceOptions = {}): Promise<void> {
  checkCall("deleteOpfs", name, options, PLACE_ONLY);
  const where = await find(name, options);
  try {
    await removeBoth(where);
  } catch (error) {
    throw refusal(name, error);
  }
}

async function find(name: string, { directory, busyTimeoutMs }: OpfsPlaceOptions): Promise<Where> {
  // Ours is no other's: a store that was closed a moment ago is done in another one.
  await leaving.get(name);
  try {
    return {
      directory: directory ?? (await rootDirectory(name)),
      name,
      busyTimeoutMs: busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS,
      start: performance.now(),
    };
  } catch (error) {
    throw refusal(name, error);
  }
}

function adapterOn(where: Where, options: OpfsOptions, opened: Opened): OpfsAdapter {
  const { name } = where;
  const storage = new OpfsStorage(name, options, opened);
  let settle = (): void => {};
  const closed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  try {
    runBlocking(storage.start(opened));
  } catch (error) {
    opened.fence.withdraw();
    opened.log.close();
    opened.base.close();
    throw refusal(name, error);
  }
  const leavePage = endWithPage(name);
  const presence = new Presence(where, () => storage.logHeader());
  const present = <T>(work: () => T): T => {
    presence.demand();
    try {
      return work();
    } catch (error) {
      // What failed is told as it is; what comes next is told why.
      if (isClosed(opened.base) || isClosed(opened.log)) presence.noteClosed();
      throw refusal(name, error);
    }
  };
  return {
    synchronous: true,
    name: "opfs",
    place: name,
    supports: { durable: true, shared: false, strict: true },
    closed,
    load: () => storage.load(),
    pull(since) {
      presence.askSometimes();
      return present(() => storage.pull(ours(since)));
    },
    verify: (pages) => present(() => storage.verify(pages)),
    lock: () => present(() => runBlocking(storage.lock())),
    append: (delta, after) => present(() => runBlocking(storage.append(delta, ours(after)))),
    checkpoint: (pages) => runBlocking(storage.checkpoint(pages)),
    close(pages) {
      leaving.set(name, closed);
      const isLogOver = !presence.isLost && runBlocking(storage.leave(pages));
      void giveBack(isLogOver);
    },
  };

  /** The file comes last: as long as it is ours, nobody writes into a log that is about to go. */
  async function giveBack(isLogOver: boolean): Promise<void> {
    await presence.ask();
    try {
      if (presence.mayClose) await closeBoth(isLogOver);
    } catch {
      // A handle that does not close goes with its thread; nobody may wait for it meanwhile.
    }
    if (leaving.get(name) === closed) leaving.delete(name);
    leavePage();
    settle();
  }

  async function closeBoth(isLogOver: boolean): Promise<void> {
    try {
      opened.log.close();
      // It stays as it is, empty, when it cannot be removed.
      if (isLogOver) await removeLog(where).catch(() => {});
    } finally {
      opened.base.close();
    }
  }
}

/** The store only hands back what it got here. */
const ours = (position: Position): LogPosition => position as LogPosition;
