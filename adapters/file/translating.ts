// What the system says when it refuses, as errors about the place.
import { StorageRefused, systemCode } from "../../src/errors.ts";
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
    throw new StorageRefused("storage-unreadable", place, `it could not be read (${code})`, { cause });
  }
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
