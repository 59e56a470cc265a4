// What the browser says when it refuses, as errors about the place.
import { domName, FlushFailed, PerdureError, StorageRefused } from "../../src/errors.ts";

/** A refusal while a place was opened, or read. */
export function refusal(place: string, cause: unknown): PerdureError {
  if (cause instanceof PerdureError) return cause;
  const name = domName(cause);
  switch (name) {
    case "NotFoundError":
      return new StorageRefused("storage-missing", place, "its folder, or the file itself, is gone", { cause });
    case "TypeMismatchError":
      return new StorageRefused("not-a-database", place, "a folder, not a file", { cause });
    case "SecurityError":
    case "NotAllowedError":
      return new StorageRefused("storage-denied", place, `the browser gives no access to it (${name})`, { cause });
    case "QuotaExceededError":
      return new FlushFailed(place, cause, "none");
    case "InvalidStateError":
      return new StorageRefused("storage-replaced", place, "the browser closed the file; open it again", { cause });
    default:
      return new StorageRefused("storage-unreadable", place, `it could not be read (${name ?? "unknown"})`, { cause });
  }
}

export function unsupported(place: string): StorageRefused {
  const problem =
    "files can be written synchronously in a dedicated worker of a current browser only, and this is none";
  return new StorageRefused("unsupported", place, problem);
}
