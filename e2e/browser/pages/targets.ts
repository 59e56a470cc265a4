// Every store on every adapter that a browser has, and where each runs. By type, the list is whole: an adapter with a
// subpath of its own and no row here is an error.
import type { AsyncTarget, Place, SyncTarget, Target } from "perdure/contract";
import { deleteDatabase, importDatabase, indexedDbAdapter } from "perdure/indexeddb";
import { memoryAdapter } from "perdure/memory";
import { deleteOpfs, importOpfs, type OpfsAdapter, openOpfs } from "perdure/opfs";
import type manifest from "../../../package.json";

/** Subpaths that hold an adapter for browsers. */
type AdapterPath = Exclude<
  keyof (typeof manifest)["exports"],
  "." | "./contract" | "./file" | "./testing" | "./package.json"
>;

/** Where code of a page runs. */
type Context = "window" | "worker";

export interface BrowserTarget {
  readonly name: string;
  readonly on: "memory" | "IndexedDB" | "OPFS";
  readonly store: Target["store"];
  readonly contexts: readonly Context[];
  /** Made where it runs: what an adapter supports is for itself to say. */
  make(): Promise<Target>;
}

const EVERYWHERE = ["window", "worker"] as const;

const inMemory = async (): Promise<Place<ReturnType<typeof memoryAdapter>>> => ({
  adapter: memoryAdapter,
  dispose: async () => {},
});

async function inIndexedDb(): Promise<Place<ReturnType<typeof indexedDbAdapter>>> {
  const name = crypto.randomUUID();
  return {
    adapter: () => indexedDbAdapter(name),
    putFiles: (files) => importDatabase(name, files),
    dispose: () => deleteDatabase(name),
  };
}

async function onOpfs(): Promise<Place<OpfsAdapter>> {
  const name = crypto.randomUUID();
  return {
    adapter: () => openOpfs(name),
    putFiles: (files) => importOpfs(name, files),
    dispose: () => deleteOpfs(name),
  };
}

/** Asks an adapter for what it supports: one has to be opened for that. */
async function opfsSupports(): Promise<Target["supports"]> {
  const name = crypto.randomUUID();
  const adapter = await openOpfs(name);
  adapter.close(null);
  await adapter.closed;
  await deleteOpfs(name);
  return adapter.supports;
}

function row(
  on: BrowserTarget["on"],
  contexts: readonly Context[],
  target: Omit<SyncTarget, "name" | "supports"> | Omit<AsyncTarget, "name" | "supports">,
  supports: () => Target["supports"] | Promise<Target["supports"]>,
): BrowserTarget {
  const name = `${target.store} on ${on}`;
  return {
    ...{ name, on, store: target.store, contexts },
    make: async () => ({ ...target, name, supports: await supports() }),
  };
}

const SYNC = { store: "SqliteStore" } as const;
const ASYNC = { store: "AsyncSqliteStore" } as const;
const memory = (): Target["supports"] => memoryAdapter().supports;
const indexedDb = (): Target["supports"] => indexedDbAdapter("unused").supports;

const ROWS: { readonly [path in AdapterPath]: readonly BrowserTarget[] } = {
  "./memory": [
    row("memory", EVERYWHERE, { ...SYNC, newPlace: inMemory }, memory),
    row("memory", EVERYWHERE, { ...ASYNC, newPlace: inMemory }, memory),
  ],
  "./indexeddb": [row("IndexedDB", EVERYWHERE, { ...ASYNC, newPlace: inIndexedDb }, indexedDb)],
  // Its files open in dedicated workers alone.
  "./opfs": [
    row("OPFS", ["worker"], { ...SYNC, newPlace: onOpfs }, opfsSupports),
    row("OPFS", ["worker"], { ...ASYNC, newPlace: onOpfs }, opfsSupports),
  ],
};

export const TARGETS: readonly BrowserTarget[] = Object.values(ROWS).flat();
