// What the system says when it refuses, as errors about the place.
import { FlushFailed, type PerdureError, StorageRefused, systemCode } from "../../src/errors.ts";
import type { Program } from "../wal/program.ts";

/** The system's refusals, as errors about the place. */
export function translating<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
      throw new StorageRefused("storage-denied", place, `no permission to read and write it (${code})`, { cause });
    }
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new StorageRefused("storage-missing", place, `nothing is there (${code})`, { cause });
    }
    if (code === null) throw cause;
    throw refusalOf(place, code, cause, "it could not be read");
  }
}

/** What is no matter of the place, but of the system as it is now; else `problem`. */
export function refusalOf(place: string, code: string | null, cause: unknown, problem: string): PerdureError {
  // Making a log or a lock.
  if (code === "ENOSPC" || code === "EDQUOT") return new FlushFailed(place, cause, "none");
  if (code === "ENAMETOOLONG") {
    const remedy = "its name is too long, or leaves no room for those of the files beside it: take a shorter one";
    return new StorageRefused("unsupported", place, remedy, { cause });
  }
  const whose = code === "EMFILE" ? "this process" : "the system";
  const words =
    code === "EMFILE" || code === "ENFILE"
      ? `${whose} has too many files open (${code}): close some, or raise the limit (ulimit -n), and try again`
      : `${problem} (${code ?? "unknown"})`;
  return new StorageRefused("storage-unreadable", place, words, { cause });
}

/** Reads that fail are errors about the place. */
export function* translatingProgram<T>(place: string, program: Program<T>): Program<T> {
  let step = translating(place, () => program.next());
  while (step.done !== true) {
    try {
      yield step.value;
    } catch (error) {
      step = translating(place, () => program.throw(error));
      continue;
    }
    step = translating(place, () => program.next());
  }
  return step.value;
}
