// What a file adapter can be told.
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
  if (typeof place !== "string" || place === "" || place.includes("\0")) {
    throw new RecordInvalid("file adapter", [], "expected a path");
  }
  checkOptions("file adapter", options, { ...PLACE_CHECKS, ...CHECKPOINT_CHECKS }, ["options"]);
}
