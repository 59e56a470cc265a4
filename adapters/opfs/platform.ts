// What is asked of the browser, and nowhere else: types of the origin private file system, as far as it is used (so that
// tests can make one up); its root; whether a folder is really the browser's; and the lock that ends a worker with its page.
import { StorageRefused } from "../../src/errors.ts";

/** A folder: what `navigator.storage.getDirectory()` and `getDirectoryHandle` give. */
export interface OpfsDirectory {
  getFileHandle(name: string, options?: { create?: boolean }): Promise<OpfsFileHandle>;
  removeEntry(name: string): Promise<void>;
  /** Integers for what is left to chance, where all shall happen the same way again. Browsers have none. */
  readonly chance?: () => number;
}

export interface OpfsFileHandle {
  readonly kind: "file";
  /** What is in it now. Without it, a file of the same name counts as the same file. */
  getFile?(): Promise<{ slice(from: number, to: number): { arrayBuffer(): Promise<ArrayBuffer> } }>;
  /** Not there outside dedicated workers, nor in old browsers. */
  createSyncAccessHandle?(): Promise<SyncAccessHandle>;
}

/** A file open for one alone, all calls synchronous. Reads and writes may do less than asked. */
export interface SyncAccessHandle {
  read(target: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(bytes: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}

/** The origin's own folder. */
export async function rootDirectory(place: string): Promise<OpfsDirectory> {
  const storage: StorageManager | undefined = globalThis.navigator?.storage;
  if (typeof storage?.getDirectory !== "function") {
    const problem = "there is no origin private file system here (an old browser, or a page without https)";
    throw new StorageRefused("unsupported", place, problem);
  }
  return storage.getDirectory();
}

/** Whether a folder is the browser's own, and none that is made up. */
export function isBrowsers(directory: OpfsDirectory): boolean {
  return typeof FileSystemDirectoryHandle === "function" && directory instanceof FileSystemDirectoryHandle;
}

/**
 * Has the browser end this worker when its page is left, until the function returned is called. Otherwise it may keep both
 * for whoever goes back, asleep, and with it the files: nobody could open them. No browser keeps what holds a Web Lock.
 */
export function endWithPage(name: string): () => void {
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const locks: LockManager | undefined = globalThis.navigator?.locks;
  // Shared: it keeps nobody out. Where locks are refused, files are too.
  locks?.request(`perdure-opfs:${name}`, { mode: "shared" }, () => left).catch(() => {});
  return leave;
}
