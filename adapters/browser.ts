// The package's entry where there is no file system: a plain name is a database in IndexedDB.
import { StorageRefused } from "../src/errors.ts";
import type { Remains } from "../src/port.ts";
import { type DatabaseBytes, providePlatform } from "../src/store/locations.ts";
import { indexedDbAdapter } from "./indexeddb/index.ts";
import { memoryAdapter } from "./memory.ts";
import { remainsOfBytes } from "./wal/remains.ts";

/** A page loads what salvages its databases when it needs it, which is seldom. */
async function remains(from: string | DatabaseBytes): Promise<Remains> {
  if (typeof from !== "string") return remainsOfBytes(from);
  const { remainsIn, ownPlatform } = await import("./indexeddb/remains.ts").catch((cause: unknown) => {
    const problem =
      "what salvages it is loaded with import(), which is not possible here; do it in a window or a worker";
    throw new StorageRefused("unsupported", from, problem, { cause });
  });
  return remainsIn(ownPlatform, from);
}

providePlatform({ memory: memoryAdapter, openSync: null, openAsync: indexedDbAdapter, remains });

// The one place where everything is passed on: an entry adds a platform, not names.
export * from "../src/index.ts";
