// What the tests of records share. Not part of the package.
import { RecordInvalid } from "../errors.ts";

/** The refusal that `run` ends with; whatever else it throws comes through. */
export function invalid(run: () => unknown): RecordInvalid {
  try {
    run();
  } catch (error) {
    if (error instanceof RecordInvalid) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
