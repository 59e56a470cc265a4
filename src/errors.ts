// Every error perdure throws on purpose. Each has a literal `name`, a stable `code`, the ids involved, the cause, and a
// message that says what to do. Messages carry ids, paths and places; never what the user stored.

/** What all errors of this library share. `code` never changes between versions; messages may. */
export abstract class PerdureError extends Error {
  abstract override readonly name: string;
  abstract readonly code: ErrorCode;
}

/** The stable codes, one for each class below (`FlushFailed` has several). */
export type ErrorCode =
  | "stale-write"
  | "record-invalid"
  | "store-closed"
  | "store-busy"
  | "flush-failed"
  | "no-space"
  | "quota"
  | "outcome-unknown"
  | "fenced"
  | "image-corrupt"
  | "not-a-database"
  | "schema-mismatch"
  | "newer-format"
  | "hot-journal"
  | "storage-missing"
  | "storage-exists"
  | "storage-denied"
  | "storage-unreadable"
  | "storage-replaced"
  | "open-timeout"
  | "unsupported"
  | "sql-failed"
  | "engine-failed";

/** Somebody else wrote this Execution since it was loaded. Load it again, decide again, write again. */
export class StoreConflict extends PerdureError {
  override readonly name = "StoreConflict";
  readonly code = "stale-write";
  readonly executionId: string;
  /** The version the write was based on. */
  readonly expected: number;
  /** The version in the store, or null when the Execution is not there. */
  readonly found: number | null;

  constructor(executionId: string, expected: number, found: number | null) {
    super(`stale write to ${executionId}: expected version ${expected}, found ${found ?? "None"}`);
    this.executionId = executionId;
    this.expected = expected;
    this.found = found;
  }
}

/** A record that cannot be stored, or a stored one that cannot be read without losing something. */
export class RecordInvalid extends PerdureError {
  override readonly name = "RecordInvalid";
  readonly code = "record-invalid";
  /** Where in the record, for example `["context", "items", 0]`. */
  readonly path: readonly (string | number)[];

  constructor(record: string, path: readonly (string | number)[], problem: string, options?: ErrorOptions) {
    super(`${record}${path.length > 0 ? ` at ${formatPath(path)}` : ""}: ${problem}`, options);
    this.path = path;
  }
}

/** The store was closed. Open it again. */
export class StoreClosed extends PerdureError {
  override readonly name = "StoreClosed";
  readonly code = "store-closed";

  constructor() {
    super("the store is closed; open it again to go on");
  }
}

/** Somebody else held the write lease for the whole of `busyTimeoutMs`. Nothing was written: try again. */
export class StoreBusy extends PerdureError {
  override readonly name = "StoreBusy";
  readonly code = "store-busy";
  /** Who holds the lease, as far as the adapter can tell: for a file, host and process id. */
  readonly holder: string;

  constructor(place: string, waitedMs: number, holder: string, advice = "") {
    super(`${place} is held by ${holder}, and was for ${waitedMs} ms; nothing was written, try again${advice}`);
    this.holder = holder;
  }
}

/**
 * Storage refused a write. The commit is undone in memory and in storage; the store goes on when storage does. Only with
 * code "outcome-unknown" it may be in storage: the next read tells.
 */
export class FlushFailed extends PerdureError {
  override readonly name = "FlushFailed";
  /**
   * "no-space": the disk is full. "quota": the browser gives the site no more. "outcome-unknown": storage was lost before
   * it told. "flush-failed": anything else.
   */
  readonly code: "flush-failed" | "no-space" | "quota" | "outcome-unknown";

  /** @param outcome "none": there was no commit to be undone */
  constructor(place: string, cause: unknown, outcome: "undone" | "none" | "unknown" = "undone") {
    const reason = systemCode(cause) ?? domName(cause);
    const code = outcome === "unknown" ? "outcome-unknown" : flushCode(reason);
    const effect = { undone: "the commit was undone, ", none: "nothing was changed, ", unknown: "" }[outcome];
    super(`${FLUSH_PROBLEMS[code](place, reason)}; ${effect}${FLUSH_REMEDIES[code]}`, { cause });
    this.code = code;
  }
}

const FLUSH_PROBLEMS = {
  "flush-failed": (place: string, reason: string | null) =>
    `writing ${place} failed${reason === null ? "" : ` (${reason})`}`,
  "no-space": (place: string) => `no space left to write ${place}`,
  quota: (place: string) => `the browser's quota leaves no space to write ${place}`,
  "outcome-unknown": (place: string) => `writing ${place} was cut off, and it cannot be told whether it was kept`,
} as const;

const FLUSH_REMEDIES = {
  "flush-failed": "try again",
  "no-space": "free some space and try again",
  quota: "delete some of the site's data, or ask for persistent storage, and try again",
  "outcome-unknown": "load it again to see, and try again when it was not",
} as const;

function flushCode(reason: string | null): FlushFailed["code"] {
  if (reason === "QuotaExceededError") return "quota";
  return reason === "ENOSPC" || reason === "EDQUOT" || reason === "EFBIG" ? "no-space" : "flush-failed";
}

/** Another writer got in between: this one had lost its right to write. Nothing was written: try again. */
export class Fenced extends PerdureError {
  override readonly name = "Fenced";
  readonly code = "fenced";

  constructor(place: string) {
    super(`another writer appended to ${place} first; nothing was written, try again`);
  }
}

/** The storage is there and cannot be used. What was found is untouched. `code` tells the kind. */
export class StorageRefused extends PerdureError {
  override readonly name = "StorageRefused";
  readonly code: RefusalCode;
  /** The file or database that was refused. */
  readonly place: string;

  constructor(code: RefusalCode, place: string, problem: string, options?: ErrorOptions) {
    super(`${place}: ${problem}`, options);
    this.code = code;
    this.place = place;
  }
}

/** Why a place was refused. */
export type RefusalCode =
  | "not-a-database"
  | "schema-mismatch"
  | "newer-format"
  | "hot-journal"
  | "storage-missing"
  | "storage-exists"
  | "storage-denied"
  | "storage-unreadable"
  | "storage-replaced"
  | "open-timeout"
  | "unsupported";

/** Where something is damaged, as far as it is known. Pages and frames count from 1, bytes from 0. */
export interface DamageSite {
  /** "base": the database itself. "log": what was committed since and not yet moved into it. */
  readonly part: "base" | "log";
  readonly page?: number;
  /** A record of the log: a frame in a file's. */
  readonly frame?: number;
  /** From the start of the part. */
  readonly offset?: number;
}

/** The bytes found are not a whole database. They are untouched. */
export class ImageCorrupt extends PerdureError {
  override readonly name = "ImageCorrupt";
  readonly code = "image-corrupt";
  readonly place: string;
  /** Where the damage is, or null when nobody can tell. */
  readonly where: DamageSite | null;

  constructor(
    place: string,
    problem: string,
    options: ErrorOptions & { readonly remedy?: string; readonly where?: DamageSite | null } = {},
  ) {
    const { remedy = "restore it, or take what can be read with salvage", where = null, ...cause } = options;
    const site = where === null ? "" : ` (${formatSite(where)})`;
    super(`${place} is damaged: ${problem}${site}; it was left as it is, ${remedy}`, cause);
    this.place = place;
    this.where = where;
  }
}

/** SQLite refused a statement. The transaction was rolled back. */
export class SqlFailed extends PerdureError {
  override readonly name = "SqlFailed";
  readonly code = "sql-failed";
  /** SQLite's extended result code. */
  readonly resultCode: number;

  constructor(resultCode: number, message: string) {
    super(`SQLite: ${message} (${resultCode})`);
    this.resultCode = resultCode;
  }
}

/** WebAssembly could not be loaded: wrong bytes, a content security policy, or no memory. */
export class EngineFailed extends PerdureError {
  override readonly name = "EngineFailed";
  readonly code = "engine-failed";

  constructor(problem: string, options?: ErrorOptions) {
    super(`the SQL engine did not start: ${problem}`, options);
  }
}

/** The code of a system error ("ENOSPC"), or null. Our own codes are no system's. */
export function systemCode(error: unknown): string | null {
  if (error instanceof PerdureError) return null;
  if (typeof error !== "object" || error === null) return null;
  // Deno's word for a permission that it was not started with; its error has no code.
  if ("name" in error && error.name === "NotCapable") return "EACCES";
  return "code" in error && typeof error.code === "string" ? error.code : null;
}

/** The name of a browser's error ("QuotaExceededError"), or null. */
export function domName(error: unknown): string | null {
  return typeof DOMException !== "undefined" && error instanceof DOMException ? error.name : null;
}

/** `["context", "a", 0]` → `context.a[0]`. Keys are part of the path, values never are. */
function formatPath(path: readonly (string | number)[]): string {
  return path.map((step, i) => (typeof step === "number" ? `[${step}]` : i === 0 ? step : `.${step}`)).join("");
}

/** `{part: "base", page: 3, offset: 8192}` → `base, page 3, byte 8192`. */
function formatSite({ part, page, frame, offset }: DamageSite): string {
  const steps = [part, page && `page ${page}`, frame && `frame ${frame}`, offset === undefined ? "" : `byte ${offset}`];
  return steps.filter((step) => step !== undefined && step !== "").join(", ");
}
