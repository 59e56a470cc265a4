// What IndexedDB says when something goes wrong, as errors about the place.
import { FlushFailed, ImageCorrupt, PerdureError, StorageRefused } from "../../src/errors.ts";

/** A transaction that did not complete, as far as its end is known. */
export class TransactionFailed extends Error {
  override readonly name = "TransactionFailed";
  /** Whether it is certain that nothing of it was kept. */
  readonly certain: boolean;
  /** It did not answer in time. */
  readonly timedOut: boolean;

  constructor(cause: unknown, certain: boolean, timedOut = false) {
    super("the transaction did not complete", { cause });
    this.certain = certain;
    this.timedOut = timedOut;
  }
}

export const nameOf = (error: unknown): string | null =>
  typeof error === "object" && error !== null && "name" in error ? String(error.name) : null;

/** An error of IndexedDB's own kind, where the browser gave none. */
export const domError = (name: string, message: string): DOMException => new DOMException(message, name);

/** Why IndexedDB cannot be opened. */
export function openFailure(place: string, cause: unknown): PerdureError {
  if (cause instanceof PerdureError) return cause;
  switch (nameOf(cause)) {
    case "VersionError":
      return new StorageRefused("newer-format", place, "written by a newer version; reload to get that", { cause });
    case "SecurityError":
    case "InvalidStateError":
    case "NotAllowedError":
      return new StorageRefused("storage-denied", place, "the browser keeps nothing for this page (private mode?)", {
        cause,
      });
    case "QuotaExceededError":
      return new StorageRefused("storage-denied", place, "the browser gives the site no space", { cause });
    default:
      return new StorageRefused("storage-unreadable", place, "IndexedDB does not open it", { cause });
  }
}

/** A second try would end the same way. */
export function isFinal(error: unknown): boolean {
  return (
    error instanceof PerdureError ||
    ["VersionError", "SecurityError", "NotAllowedError", "QuotaExceededError"].includes(nameOf(error) ?? "")
  );
}

/** Why something could not be read. */
export function readFailure(place: string, error: unknown): unknown {
  if (!(error instanceof TransactionFailed)) return error;
  if (error.timedOut) return noAnswer(place);
  const { cause } = error;
  // Chromium keeps large values in files of their own, and this is what it says when one is gone.
  if (nameOf(cause) === "NotReadableError") return new ImageCorrupt(place, "the browser lost a part of it", { cause });
  return new StorageRefused("storage-unreadable", place, "IndexedDB does not read it", { cause });
}

/** Why something could not be written. `inDoubt`: it may have been. */
export function writeFailure(place: string, error: unknown, inDoubt: boolean): PerdureError {
  const cause = error instanceof TransactionFailed ? error.cause : error;
  if (inDoubt) return new FlushFailed(place, cause, "unknown");
  return error instanceof PerdureError ? error : new FlushFailed(place, cause);
}

export function noAnswer(place: string): StorageRefused {
  return new StorageRefused("open-timeout", place, "IndexedDB does not answer; try again, or restart the browser");
}
