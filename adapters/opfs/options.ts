// What the adapter can be told, and what a name is.
import { checkOptions, type OptionChecks, PLACE_CHECKS } from "../../src/check.ts";
import { RecordInvalid } from "../../src/errors.ts";
import type { PlaceOptions } from "../../src/port.ts";
import { CHECKPOINT_CHECKS } from "../wal/checkpoint.ts";
import type { OpfsDirectory } from "./platform.ts";

/** Where the files are, and how long to wait for them. */
export interface OpfsPlaceOptions {
  /** The folder that the files are in. Default: the origin's root. */
  readonly directory?: OpfsDirectory;
  /** Milliseconds to wait for whoever has the database open before `StoreBusy`. Default 5000. */
  readonly busyTimeoutMs?: number;
}

/** How a database is opened and written. */
export interface OpfsOptions extends PlaceOptions, OpfsPlaceOptions {
  /**
   * Frames in the log (one for each page a commit changed) after which it is moved into the file. Default: half as many
   * as the database has pages, and 8000 at the least.
   */
  readonly checkpointFrames?: number;
}

const DIRECTORY: OptionChecks = {
  directory: {
    is: (value) => typeof value === "object" && value !== null && "getFileHandle" in value && "removeEntry" in value,
    expected: "a directory handle",
  },
};

export const PLACE_ONLY: OptionChecks = { ...DIRECTORY, busyTimeoutMs: PLACE_CHECKS["busyTimeoutMs"]! };
export const ALL: OptionChecks = { ...DIRECTORY, ...PLACE_CHECKS, ...CHECKPOINT_CHECKS };

/** With the log's ending it must fit the 255 bytes of a file's name. */
const LONGEST_NAME_BYTES = 240;
/** Characters that no name has everywhere: those that part folders, and control characters, which cannot be seen. */
const FORBIDDEN = /[/\\\p{Cc}]/u;
/** Names that stand for other things than a database: its folder, or what SQLite puts beside one. */
const TAKEN = /^\.{1,2}$|-(wal|journal|shm)$/u;

/** Throws `RecordInvalid`. */
export function checkCall(call: string, name: string, options: object, known: OptionChecks): void {
  if (!isName(name)) {
    const expected = `1 to ${LONGEST_NAME_BYTES} bytes, no slash, backslash or control character, not "." or ".."`;
    throw new RecordInvalid(call, [], `expected a name: ${expected}, not ending in -wal, -journal or -shm`);
  }
  checkOptions(call, options, known, ["options"]);
}

function isName(name: unknown): boolean {
  if (typeof name !== "string" || name === "" || FORBIDDEN.test(name) || TAKEN.test(name)) return false;
  // Half a surrogate pair has no bytes of its own: two such names would be one file.
  return name.isWellFormed() && new TextEncoder().encode(name).length <= LONGEST_NAME_BYTES;
}
