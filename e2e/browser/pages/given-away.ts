// Files of the origin private file system that two workers have at once, as when a browser gives those of a worker that it
// ended to the next one. Chromium gives out such handles when asked.
import { newExecution, PerdureError, SqliteStore } from "perdure";
import { openOpfs, type OpfsDirectory, type SyncAccessHandle } from "perdure/opfs";

type OpenForAll = (options: { readonly mode: "readwrite-unsafe" }) => Promise<SyncAccessHandle>;

/** The browser's own folder, its files open to everybody. */
async function folder(): Promise<OpfsDirectory> {
  const root = await navigator.storage.getDirectory();
  const getFileHandle: OpfsDirectory["getFileHandle"] = async (name, options) => {
    const file = await root.getFileHandle(name, options);
    const open = (file as unknown as { createSyncAccessHandle: OpenForAll }).createSyncAccessHandle.bind(file);
    return { kind: "file", createSyncAccessHandle: () => open({ mode: "readwrite-unsafe" }) };
  };
  const removeEntry: OpfsDirectory["removeEntry"] = (name) => root.removeEntry(name);
  return Object.create(FileSystemDirectoryHandle.prototype, {
    getFileHandle: { value: getFileHandle },
    removeEntry: { value: removeEntry },
  }) as OpfsDirectory;
}

/** What this worker holds until it is over. */
let held: { readonly store: SqliteStore; readonly closed: Promise<void> } | null = null;

/** Opens, whoever has it. So little goes into the log that it is folded all the time. */
export async function takeOver(name: string): Promise<void> {
  const adapter = await openOpfs(name, { directory: await folder(), checkpointFrames: 20 });
  held = { store: await SqliteStore.create(adapter), closed: adapter.closed };
}

export interface Held {
  /** Commits of `saveNew`, by number from 0. */
  readonly acknowledged: number;
  /** What ended it, or null when it was done. */
  readonly code: string | null;
}

const idOf = (holder: number, n: number): string => `${holder}-${n}`;

/** Commits in one go until somebody else has the files, or `most` times; then closes. */
export async function commitUntilLost(holder: number, most: number): Promise<Held> {
  const { store, closed } = held!;
  let acknowledged = 0;
  let code: string | null = null;
  try {
    for (; acknowledged < most; acknowledged++) {
      const context = { text: "x".repeat((acknowledged * 997) % 6000) };
      store.save(newExecution({ id: idOf(holder, acknowledged), definition_id: "order", context }));
    }
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    ({ code } = error);
  }
  store.close();
  await closed;
  return { acknowledged, code };
}

/** What is not there of what was acknowledged, and what else is wrong. */
export async function lostOf(name: string, holders: readonly number[]): Promise<readonly string[]> {
  const adapter = await openOpfs(name);
  const store = await SqliteStore.create(adapter);
  const problems = store.verify().map((problem) => JSON.stringify(problem));
  for (const [holder, acknowledged] of holders.entries()) {
    for (let n = 0; n < acknowledged; n++) if (store.load(idOf(holder, n)) === null) problems.push(idOf(holder, n));
  }
  store.close();
  await adapter.closed;
  return problems;
}
