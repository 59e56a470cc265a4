// Every store on every adapter of the package, as the contract suite wants them. By type, the list is whole: an adapter
// with a subpath of its own and no row here is an error.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncFileAdapter, fileAdapter } from "../adapters/file/index.ts";
import { adapterOn } from "../adapters/indexeddb/adapter.ts";
import { indexedDbAdapter } from "../adapters/indexeddb/index.ts";
import { importInto } from "../adapters/indexeddb/manage.ts";
import { Site } from "../adapters/indexeddb/testing/site.ts";
import { memoryAdapter } from "../adapters/memory.ts";
import { openOpfs, type OpfsAdapter } from "../adapters/opfs/index.ts";
import { FakeOpfs } from "../adapters/opfs/testing/fake-opfs.ts";
import type manifest from "../package.json";
import type { AsyncTarget, Place, SyncTarget } from "../src/contract/index.ts";
import type { AsyncAdapter } from "../src/port.ts";
import { PROMISED } from "./promised.ts";

/** Subpaths that hold an adapter. */
type AdapterPath = Exclude<keyof (typeof manifest)["exports"], "." | "./contract" | "./testing" | "./package.json">;

const inMemory = async (): Promise<Place<ReturnType<typeof memoryAdapter>>> => ({
  adapter: memoryAdapter,
  dispose: async () => {},
});

/** A folder of its own for each place. */
const onFile =
  <Adapter>(open: (path: string) => Adapter) =>
  async (): Promise<Place<Adapter>> => {
    const folder = await mkdtemp(join(tmpdir(), "perdure-"));
    const path = join(folder, "store.db");
    return {
      adapter: () => open(path),
      async putFiles({ database, wal }) {
        await writeFile(path, database);
        if (wal !== null) await writeFile(`${path}-wal`, wal);
      },
      dispose: () => rm(folder, { recursive: true }),
    };
  };

/** A file system of its own for each place, in memory: browsers have the real one. */
const onOpfs = async (): Promise<Place<OpfsAdapter>> => {
  const fake = new FakeOpfs();
  return {
    adapter: () => openOpfs("store.db", { directory: fake.directory }),
    async putFiles({ database, wal }) {
      fake.put("store.db", database);
      if (wal !== null) fake.put("store.db-wal", wal);
    },
    dispose: async () => {},
  };
};

/** A site of its own for each place, and a tab of its own for each store. */
const onIndexedDb = async (): Promise<Place<AsyncAdapter>> => {
  const site = new Site();
  return {
    // Folded every few commits: what is rare otherwise happens all the time.
    adapter: () => adapterOn(site.tab(), "store", { foldBytes: 2500 }),
    putFiles: (files) => importInto(site.tab(), "store", files),
    dispose: async () => {},
  };
};

const memory = memoryAdapter().supports;
const file = fileAdapter("unused").supports;
/** One has to be opened to be asked. What it then says is held against the same in browsers. */
const opfs = PROMISED.OPFS;

export const TARGETS: {
  readonly [path in AdapterPath]: { readonly sync: SyncTarget | null; readonly async: AsyncTarget };
} = {
  "./memory": {
    sync: { name: "SqliteStore on memory", store: "SqliteStore", supports: memory, newPlace: inMemory },
    async: { name: "AsyncSqliteStore on memory", store: "AsyncSqliteStore", supports: memory, newPlace: inMemory },
  },
  "./file": {
    sync: { name: "SqliteStore on file", store: "SqliteStore", supports: file, newPlace: onFile(fileAdapter) },
    async: {
      name: "AsyncSqliteStore on file",
      store: "AsyncSqliteStore",
      supports: file,
      newPlace: onFile(asyncFileAdapter),
    },
  },
  "./indexeddb": {
    sync: null,
    async: {
      name: "AsyncSqliteStore on indexeddb",
      store: "AsyncSqliteStore",
      supports: indexedDbAdapter("unused").supports,
      newPlace: onIndexedDb,
    },
  },
  "./opfs": {
    sync: { name: "SqliteStore on opfs", store: "SqliteStore", supports: opfs, newPlace: onOpfs },
    async: { name: "AsyncSqliteStore on opfs", store: "AsyncSqliteStore", supports: opfs, newPlace: onOpfs },
  },
};
