// What a plain string means where this runs. The package's entry for the platform says so, once, while it loads: the
// core itself knows no adapter.
import { StorageRefused } from "../errors.ts";
import type { AsyncAdapter, SyncAdapter } from "../port.ts";

/** How to reach a place by name. For an adapter made by hand, give these to its own factory. */
export interface PlaceOptions {
  /** "strict" (default): a commit outlives a power cut. "relaxed": it outlives the process. */
  readonly durability?: "strict" | "relaxed";
  /** Milliseconds to wait for another writer before `StoreBusy`. Default 5000. */
  readonly busyTimeoutMs?: number;
  /** Refuse to start fresh when nothing is there. Default false. */
  readonly mustExist?: boolean;
}

/** The adapters of a platform. */
export interface Platform {
  memory(): SyncAdapter;
  /** Null where nothing can be flushed synchronously. */
  readonly openSync: ((place: string, options: PlaceOptions) => SyncAdapter) | null;
  readonly openAsync: ((place: string, options: PlaceOptions) => AsyncAdapter) | null;
}

export const MEMORY = ":memory:";
let platform: Platform | null = null;

/** Called by the package's entry for the platform. */
export function providePlatform(found: Platform): void {
  platform = found;
}

export function syncAdapterFor(place: string, options: PlaceOptions): SyncAdapter {
  if (place === MEMORY && platform !== null) return inMemory(platform, options);
  if (platform === null || platform.openSync === null) {
    throw new StorageRefused(
      "unsupported",
      place,
      "nothing here flushes synchronously; use AsyncSqliteStore or an adapter",
    );
  }
  return platform.openSync(place, options);
}

export function asyncAdapterFor(place: string, options: PlaceOptions): AsyncAdapter | SyncAdapter {
  if (place === MEMORY && platform !== null) return inMemory(platform, options);
  if (platform === null || platform.openAsync === null) {
    throw new StorageRefused("unsupported", place, 'only ":memory:" can be opened by name here; give an adapter');
  }
  return platform.openAsync(place, options);
}

function inMemory(found: Platform, { mustExist = false }: PlaceOptions): SyncAdapter {
  if (mustExist)
    throw new StorageRefused("storage-missing", MEMORY, "nothing is there: memory starts fresh every time");
  return found.memory();
}
