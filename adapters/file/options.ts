// What a file adapter can be told.
import * as path from "node:path";
import { checkOptions, PLACE_CHECKS } from "../../src/check.ts";
import { RecordInvalid } from "../../src/errors.ts";
import type { PlaceOptions } from "../../src/port.ts";
import { CHECKPOINT_CHECKS } from "../wal/checkpoint.ts";

/** How a file is opened and written. */
export interface FileOptions extends PlaceOptions {
  /**
   * Frames in the log (one for each page a commit changed) after which it is moved into the file. Default: half as many
   * as the database has pages, and 8000 at the least.
   */
  readonly checkpointFrames?: number;
}

/** Throws `RecordInvalid`. */
export function checkFileOptions(place: string, options: FileOptions): void {
  checkPath(place);
  checkOptions("file adapter", options, { ...PLACE_CHECKS, ...CHECKPOINT_CHECKS }, ["options"]);
}

/** Throws `RecordInvalid` when the system would take it for another path than it says, or for no file's. */
export function checkPath(place: string): void {
  const isText = typeof place === "string" && place !== "" && !place.includes("\0");
  if (!isText) throw new RecordInvalid("file adapter", [], "expected a path");
  if (!place.isWellFormed()) {
    throw new RecordInvalid("file adapter", [], "a lone surrogate in a path: another file would be meant");
  }
  // What is resolved would have lost it, and be a file's.
  if (place.endsWith("/") || place.endsWith(path.sep)) {
    throw new RecordInvalid("file adapter", [], "expected a file's path, and one that ends in a slash is a folder's");
  }
}
