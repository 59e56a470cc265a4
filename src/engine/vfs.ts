// The VFS under stock sql.js: SQLite's file calls for our databases go to an Image. sql.js has no call to register a
// VFS, so the shims are written into the default one ("unix"), found through the first field of `sqlite3*`; names that
// are not ours are passed on. Layouts are SQLite's public sqlite3_vfs and sqlite3_io_methods (https://sqlite.org/c3ref/vfs.html)
// with 4-byte pointers. May not know what a store is.
import { EngineFailed } from "../errors.ts";
import type { Memory, Pointer, SqlJs } from "./engine.ts";
import type { Image } from "./image.ts";

/** Databases open by name. */
export interface Vfs {
  /** Puts an image behind a name for SQLite to open. */
  mount(image: Image): { readonly name: string; readonly file: MountedFile };
  unmount(name: string): void;
}

/** One database as SQLite's pager sees it. */
export interface MountedFile {
  readonly image: Image;
  /**
   * Makes the pager drop its cache at its next lock: set after pages changed under it. The pager compares the 16 bytes
   * at offset 24 of the file with those it remembers (pager.c, pagerSharedLock), so it is shown others, once.
   */
  stale: boolean;
}

const OK = 0;
const IOERR = 10;
const NOTFOUND = 12;
const CANTOPEN = 14;
const IOERR_SHORT_READ = 522;
const IOERR_WRITE = 778;
const OPEN_MAIN_DB = 0x100;
const FILE_CHANGE_AT = 24;
const FILE_CHANGE_BYTES = 16;
/** Bytes in `sqlite3_io_methods` version 1: iVersion and twelve pointers. */
const IO_METHODS_BYTES = 13 * 4;
/** Offsets in `sqlite3_vfs`. */
const VFS_NAME = 16;
const VFS_OPEN = 24;
const VFS_ACCESS = 32;
/** SQLITE_IOCAP_ATOMIC | SAFE_APPEND | SEQUENTIAL | POWERSAFE_OVERWRITE: memory cannot tear. */
const DEVICE_CHARACTERISTICS = 0x1 | 0x200 | 0x400 | 0x1000;

export function installVfs(sqlite: SqlJs, memory: Memory, table: WebAssembly.Table): Vfs {
  const mounted = new Map<string, MountedFile>();
  const open = new Map<Pointer, MountedFile>();
  let count = 0;

  /** A callback SQLite may call. An exception must not unwind SQLite's own frames. */
  const shim = (signature: string, run: (...args: never[]) => number): Pointer =>
    sqlite.addFunction((...args: never[]) => {
      try {
        return run(...args);
      } catch {
        return IOERR;
      }
    }, signature);

  const succeed = shim("iii", () => OK);
  const methods = sqlite._malloc(IO_METHODS_BYTES);
  const pointers: Pointer[] = [
    shim("ii", (file: Pointer) => {
      open.delete(file);
      return OK;
    }),
    shim("iiiij", (file: Pointer, target: Pointer, bytes: number, offset: bigint) => {
      const mount = open.get(file)!;
      const at = Number(offset);
      const buffer = memory.bytes.subarray(target, target + bytes);
      const read = mount.image.read(at, buffer);
      buffer.fill(0, read);
      if (mount.stale && at === FILE_CHANGE_AT && bytes === FILE_CHANGE_BYTES) {
        mount.stale = false;
        for (let i = 0; i < bytes; i++) buffer[i]! ^= 0xff;
      }
      return read < bytes ? IOERR_SHORT_READ : OK;
    }),
    shim("iiiij", (file: Pointer, source: Pointer, bytes: number, offset: bigint) => {
      const mount = open.get(file)!;
      const at = Number(offset);
      if (bytes !== mount.image.pageSize || at % bytes !== 0) return IOERR_WRITE;
      mount.image.write(at / bytes + 1, memory.bytes.subarray(source, source + bytes));
      return OK;
    }),
    shim("iij", (file: Pointer, size: bigint) => {
      const { image } = open.get(file)!;
      image.truncate(Math.ceil(Number(size) / image.pageSize));
      return OK;
    }),
    succeed, // xSync: durability is the adapter's
    shim("iii", (file: Pointer, size: Pointer) => {
      const { image } = open.get(file)!;
      memory.view.setBigInt64(size, BigInt(image.pageCount * image.pageSize), true);
      return OK;
    }),
    succeed, // xLock: the lease is the adapter's
    succeed, // xUnlock
    shim("iii", (_file: Pointer, result: Pointer) => {
      memory.view.setInt32(result, 0, true);
      return OK;
    }),
    shim("iiii", () => NOTFOUND), // xFileControl
    shim("ii", (file: Pointer) => open.get(file)!.image.pageSize),
    shim("ii", () => DEVICE_CHARACTERISTICS),
  ];
  memory.view.setInt32(methods, 1, true);
  pointers.forEach((pointer, i) => memory.view.setInt32(methods + 4 + i * 4, pointer, true));

  const vfs = defaultVfs(sqlite, memory);
  const unixOpen = table.get(memory.view.getInt32(vfs + VFS_OPEN, true)) as (...args: number[]) => number;
  const unixAccess = table.get(memory.view.getInt32(vfs + VFS_ACCESS, true)) as (...args: number[]) => number;
  const ours = (path: Pointer): boolean => path !== 0 && sqlite.UTF8ToString(path).startsWith(PREFIX);

  const xOpen = shim("iiiiii", (self: Pointer, path: Pointer, file: Pointer, flags: number, outFlags: Pointer) => {
    if (!ours(path)) return unixOpen(self, path, file, flags, outFlags);
    const mount = mounted.get(sqlite.UTF8ToString(path));
    // Only main databases: a journal of ours would mean journal_mode=OFF was not obeyed.
    if (mount === undefined || (flags & OPEN_MAIN_DB) === 0) return CANTOPEN;
    open.set(file, mount);
    memory.view.setInt32(file, methods, true);
    if (outFlags !== 0) memory.view.setInt32(outFlags, flags, true);
    return OK;
  });
  // SQLite asks at every lock whether a journal is there; there is none, and asking "unix" is slow.
  const xAccess = shim("iiiii", (self: Pointer, path: Pointer, flags: number, result: Pointer) => {
    if (!ours(path)) return unixAccess(self, path, flags, result);
    memory.view.setInt32(result, 0, true);
    return OK;
  });
  memory.view.setInt32(vfs + VFS_OPEN, xOpen, true);
  memory.view.setInt32(vfs + VFS_ACCESS, xAccess, true);

  return {
    mount(image) {
      const name = `${PREFIX}${++count}`;
      const file: MountedFile = { image, stale: false };
      mounted.set(name, file);
      return { name, file };
    },
    unmount(name) {
      mounted.delete(name);
    },
  };
}

const PREFIX = "/perdure-";

/** Opens `:memory:` to reach the `sqlite3_vfs*` that is the first field of `sqlite3*`. */
function defaultVfs(sqlite: SqlJs, memory: Memory): Pointer {
  const out = sqlite._malloc(4);
  const name = sqlite.stringToNewUTF8(":memory:");
  const result = sqlite._sqlite3_open(name, out);
  const db = memory.view.getInt32(out, true);
  const vfs = memory.view.getInt32(db, true);
  const version = memory.view.getInt32(vfs, true);
  const vfsName = sqlite.UTF8ToString(memory.view.getInt32(vfs + VFS_NAME, true));
  sqlite._sqlite3_close_v2(db);
  sqlite._free(name);
  sqlite._free(out);
  if (result !== OK || version < 1 || version > 3 || vfsName !== "unix") {
    throw new EngineFailed("this build of sql.js does not lay out its VFS as expected");
  }
  return vfs;
}
