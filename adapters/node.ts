// The package's entry for Node, Deno and Bun: a plain name is a file.
import { providePlatform } from "../src/store/locations.ts";
import { asyncFileAdapter, fileAdapter } from "./file/index.ts";
import { remains } from "./file/remains.ts";
import { memoryAdapter } from "./memory.ts";

providePlatform({ memory: memoryAdapter, openSync: fileAdapter, openAsync: asyncFileAdapter, remains });

// The one place where everything is passed on: an entry adds a platform, not names.
export * from "../src/index.ts";
