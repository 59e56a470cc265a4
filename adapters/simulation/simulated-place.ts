// A place for a store on a simulated disk: the code of `perdure/opfs`, over files of the simulated disk instead of the
// browser's. So what a crash test proves, it proves of code that stores run on, log, base, checkpoint and recovery.
import type { AsyncAdapter, Position, SyncAdapter } from "../../src/port.ts";
import { refusal } from "../opfs/failures.ts";
import { openOpfs } from "../opfs/index.ts";
import { openBoth, removeLog } from "../opfs/opening.ts";
import { ALL, checkCall, type OpfsOptions } from "../opfs/options.ts";
import type { OpfsDirectory, SyncAccessHandle } from "../opfs/platform.ts";
import { OpfsStorage } from "../opfs/storage.ts";
import { runAwaiting } from "../wal/program.ts";
import type { RandomAccessFile } from "../wal/random-access-file.ts";
import type { LogPosition } from "../wal/wal.ts";
import type { SimulatedDisk } from "./simulated-disk.ts";

/** How a database is opened and written. */
export type SimulatedOptions = Omit<OpfsOptions, "directory">;

/** Files that are open, for each disk: nobody else can open them. */
const openFiles = new WeakMap<SimulatedDisk, Set<string>>();

/**
 * Opens the database `name` on a simulated disk for one store, flushed before a call returns:
 * `SqliteStore.create(await openSimulated(disk, "orders.db"))`.
 *
 * @throws StorageRefused, ImageCorrupt, StoreBusy, RecordInvalid, FlushFailed
 */
export async function openSimulated(
  disk: SimulatedDisk,
  name: string,
  options: SimulatedOptions = {},
): Promise<SyncAdapter> {
  const adapter = await openOpfs(name, { busyTimeoutMs: 0, ...options, directory: simulatedDirectory(disk) });
  return { ...adapter, name: "simulated" };
}

/** The same, where syncs are awaited, and may be made to wait. */
export async function openSimulatedAsync(
  disk: SimulatedDisk,
  name: string,
  options: SimulatedOptions = {},
): Promise<AsyncAdapter> {
  checkCall("openSimulatedAsync", name, options, ALL);
  const { mustExist = false, busyTimeoutMs = 0 } = options;
  const where = { directory: simulatedDirectory(disk), name, busyTimeoutMs, start: performance.now() };
  const found = await openBoth(where, mustExist);
  const opened = {
    ...found,
    base: awaiting(disk, name, found.base),
    log: awaiting(disk, `${name}-wal`, found.log),
  };
  const storage = new OpfsStorage(name, options, opened);
  try {
    await runAwaiting(storage.start(opened));
  } catch (error) {
    opened.fence.withdraw();
    opened.log.close();
    opened.base.close();
    throw refusal(name, error);
  }
  return {
    synchronous: false,
    name: "simulated",
    place: name,
    supports: { durable: true, shared: false, strict: true },
    load: async () => storage.load(),
    pull: async (since) => storage.pull(ours(since)),
    lock: () => runAwaiting(storage.lock()),
    append: (delta, after) => runAwaiting(storage.append(delta, ours(after))),
    checkpoint: (pages) => runAwaiting(storage.checkpoint(pages)),
    async close(pages) {
      const isLogOver = await runAwaiting(storage.leave(pages));
      opened.log.close();
      if (isLogOver) await removeLog(where).catch(() => {});
      opened.base.close();
    },
  };
}

/** The folder that a simulated disk is, as the browser's own file system has them: whoever opens a file has it alone. */
export function simulatedDirectory(disk: SimulatedDisk): OpfsDirectory {
  const open = openFiles.get(disk) ?? new Set<string>();
  openFiles.set(disk, open);
  return {
    chance: () => disk.entries.length,
    async getFileHandle(name, { create = false } = {}) {
      if (disk.find(name) === null) {
        if (!create) throw domError("NotFoundError", name);
        disk.create(name);
      }
      return {
        kind: "file",
        async createSyncAccessHandle() {
          const file = disk.find(name);
          if (file === null) throw domError("NotFoundError", name);
          if (open.has(name)) throw domError("NoModificationAllowedError", name);
          open.add(name);
          return accessHandle(disk, file, () => open.delete(name));
        },
      };
    },
    async removeEntry(name) {
      if (disk.find(name) === null) throw domError("NotFoundError", name);
      if (open.has(name)) throw domError("NoModificationAllowedError", name);
      disk.remove(name);
    },
  };
}

function accessHandle(disk: SimulatedDisk, file: number, closed: () => void): SyncAccessHandle {
  return {
    read: (target, { at }) => disk.read(file, target, at),
    write: (bytes, { at }) => disk.write(file, bytes, at),
    truncate: (bytes) => disk.truncate(file, bytes),
    getSize: () => disk.size(file),
    flush() {
      disk.sync(file);
      // A browser has no other way to make a new file last.
      disk.syncNames();
    },
    close: closed,
  };
}

/** With a sync that can be waited for. */
function awaiting(disk: SimulatedDisk, name: string, inner: RandomAccessFile): RandomAccessFile {
  const file = disk.find(name)!;
  return {
    ...inner,
    async syncAwaiting() {
      await disk.syncAwaiting(file);
      disk.syncNames();
    },
  };
}

function domError(name: string, file: string): DOMException {
  return new DOMException(`${name}: simulated, ${file}`, name);
}

/** The store only hands back what it got here. */
const ours = (position: Position): LogPosition => position as LogPosition;
