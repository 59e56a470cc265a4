// The IndexedDB adapter, for pages and workers: a SQLite database in blocks, with a log of what each commit changed.
import type { AsyncAdapter } from "../../src/port.ts";
import type { DatabaseFile } from "../wal/database-file.ts";
import { adapterOn } from "./adapter.ts";
import { deleteFrom, importInto } from "./manage.ts";
import type { IndexedDbOptions } from "./options.ts";
import { ownPlatform } from "./platform.ts";

export type { DatabaseFile } from "../wal/database-file.ts";
export type { IndexedDbOptions } from "./options.ts";
export { estimate, requestPersistence, type StorageEstimate } from "./quota.ts";

/**
 * A database of the site's in IndexedDB, which calls it `perdure:` and `name`. Nothing is touched before a store loads it.
 *
 * @throws RecordInvalid when there is an option that is not known
 */
export function indexedDbAdapter(name: string, options: IndexedDbOptions = {}): AsyncAdapter {
  return adapterOn(ownPlatform, name, options);
}

/**
 * Lays a SQLite file, with the `-wal` that lay beside it, into a name that nothing is stored under: whole or not at all.
 *
 * @throws StorageRefused (`storage-exists` when something is stored there), ImageCorrupt, FlushFailed
 */
export function importDatabase(name: string, files: DatabaseFile): Promise<void> {
  return importInto(ownPlatform, name, files);
}

/**
 * Deletes a database. Stores that have it open fail with `storage-missing` from then on. No error when there is none.
 *
 * @throws StorageRefused (`open-timeout` when another tab does not let go of it: it is deleted later then)
 */
export function deleteDatabase(name: string): Promise<void> {
  return deleteFrom(ownPlatform, name);
}
