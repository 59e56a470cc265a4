// Under Deno a script may be allowed its own folder and nothing else: no host name, no /proc, no signal to another
// process. There a store also keeps its owner file locked by the kernel, which lets go of it when the process dies.
// Node has no such call; its processes are known by pid.

interface DenoFile {
  lockSync(exclusive: boolean): void;
  tryLockSync(exclusive: boolean): boolean;
  close(): void;
}

interface DenoRuntime {
  openSync(path: string, options: { read: boolean; write: boolean }): DenoFile;
}

const deno = (globalThis as { Deno?: DenoRuntime }).Deno;

/** Whether this runtime can lock files. */
export const canLock: boolean = deno !== undefined;

/** Locks a file until the returned function is called or the process dies. */
export function keepLocked(file: string): () => void {
  if (deno === undefined) return () => {};
  const open = deno.openSync(file, { read: true, write: true });
  open.lockSync(true);
  return () => open.close();
}

/** Whether anybody keeps the file locked; null when this runtime cannot tell. All links to a file share its lock. */
export function isKeptLocked(file: string): boolean | null {
  if (deno === undefined) return null;
  try {
    const open = deno.openSync(file, { read: true, write: true });
    try {
      return !open.tryLockSync(true);
    } finally {
      open.close();
    }
  } catch {
    return null;
  }
}
