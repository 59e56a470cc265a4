// The package's entry where there is no file system: plain names open nothing yet but ":memory:".
import { providePlatform } from "../src/store/locations.ts";
import { memoryAdapter } from "./memory.ts";

providePlatform({ memory: memoryAdapter, openSync: null, openAsync: null });

// The one place where everything is passed on: an entry adds a platform, not names.
export * from "../src/index.ts";
