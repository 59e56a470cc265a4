// What a plain string means where this runs. The package's entry for the platform says so, once, while it loads: the
// core itself knows no adapter.
import { RecordInvalid, StorageRefused } from "../errors.ts";
import { checkOptions, type OptionChecks, PLACE_CHECKS } from "../check.ts";
import type { AsyncAdapter, PlaceOptions, Remains, SyncAdapter } from "../port.ts";

/** The adapters of a platform. */
export interface Platform {
  memory(): SyncAdapter;
  /** Null where nothing can be flushed synchronously. */
  readonly openSync: ((place: string, options: PlaceOptions) => SyncAdapter) | null;
  readonly openAsync: ((place: string, options: PlaceOptions) => AsyncAdapter) | null;
  /** Reads what is left of a place, or of a file in bytes, without judging it. */
  remains?(from: string | DatabaseBytes): Remains | Promise<Remains>;
}

/** The bytes of a SQLite file, and of the `-wal` beside it. */
export interface DatabaseBytes {
  readonly database: Uint8Array;
  readonly wal: Uint8Array | null;
}

export const MEMORY = ":memory:";
let platform: Platform | null = null;

/** Called by the package's entry for the platform. */
export function providePlatform(found: Platform): void {
  platform = found;
}

/** What `create` understands besides the place. */
const STORE_CHECKS: OptionChecks = {
  traceMax: { is: (value) => value === null || Number.isSafeInteger(value), expected: "an integer or null" },
  wasm: { is: (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value), expected: "bytes" },
};

/** The adapter that `create` was asked for. Throws `RecordInvalid` when it was asked for something else. */
export function syncAdapterFor(where: string | SyncAdapter, options: PlaceOptions): SyncAdapter {
  if (typeof where !== "string") {
    checkAdapter(where, options);
    if (where.synchronous) return where;
    throw new RecordInvalid("create", [], "this adapter does not flush synchronously; use AsyncSqliteStore");
  }
  const place = checkPlace(where, options);
  if (where === MEMORY && platform !== null) return inMemory(platform, place);
  if (platform === null || platform.openSync === null) {
    const problem = "nothing here flushes synchronously; use AsyncSqliteStore or an adapter";
    throw new StorageRefused("unsupported", where, problem);
  }
  return platform.openSync(where, place);
}

/** The same for a store that can wait. */
export function asyncAdapterFor(
  where: string | AsyncAdapter | SyncAdapter,
  options: PlaceOptions,
): AsyncAdapter | SyncAdapter {
  if (typeof where !== "string") {
    checkAdapter(where, options);
    return where;
  }
  const place = checkPlace(where, options);
  if (where === MEMORY && platform !== null) return inMemory(platform, place);
  if (platform === null || platform.openAsync === null) {
    throw new StorageRefused("unsupported", where, 'only ":memory:" can be opened by name here; give an adapter');
  }
  return platform.openAsync(where, place);
}

/** What is left of a place that may be damaged. */
export async function remainsFor(from: string | DatabaseBytes | Remains): Promise<Remains> {
  if (typeof from !== "string") {
    if (isRemains(from)) return from;
    const isBytes = from?.database instanceof Uint8Array && (from.wal === null || from.wal instanceof Uint8Array);
    if (!isBytes) throw new RecordInvalid("salvage", ["from"], "expected a name, or the bytes { database, wal }");
  }
  if (platform?.remains === undefined) {
    throw new StorageRefused("unsupported", typeof from === "string" ? from : "bytes", "nothing here can read it");
  }
  return platform.remains(from);
}

const isRemains = (from: object | null): from is Remains => from !== null && "page" in from && "pageCount" in from;

function checkAdapter(where: object, options: unknown): void {
  if (typeof where !== "object" || where === null || !("load" in where) || !("append" in where)) {
    throw new RecordInvalid("create", [], 'expected a path, ":memory:" or an adapter');
  }
  // What concerns the place is for the adapter's own factory: here it would be ignored.
  checkOptions("create", options, STORE_CHECKS, ["options"]);
}

function checkPlace(where: string, options: PlaceOptions): PlaceOptions {
  if (where === "" || where.includes("\0") || !where.isWellFormed())
    throw new RecordInvalid("create", [], "expected a path, and this is none");
  checkOptions("create", options, { ...STORE_CHECKS, ...PLACE_CHECKS }, ["options"]);
  const known = Object.entries(options).filter(([name]) => Object.hasOwn(PLACE_CHECKS, name));
  return Object.fromEntries(known);
}

function inMemory(found: Platform, { mustExist = false }: PlaceOptions): SyncAdapter {
  if (!mustExist) return found.memory();
  throw new StorageRefused("storage-missing", MEMORY, "nothing is there: memory starts fresh every time");
}
