// The package's entry where there is no file system: a plain name is a database in IndexedDB.
import { providePlatform } from "../src/store/locations.ts";
import { indexedDbAdapter } from "./indexeddb/index.ts";
import { remains } from "./indexeddb/remains.ts";
import { memoryAdapter } from "./memory.ts";

providePlatform({ memory: memoryAdapter, openSync: null, openAsync: indexedDbAdapter, remains });

// The one place where everything is passed on: an entry adds a platform, not names.
export * from "../src/index.ts";
