// Options as a caller gave them: a name that is not known is a mistake that would change what is stored without a word.
import { RecordInvalid } from "./errors.ts";

/** What an option must be: as a test, and in words. Undefined always passes: it is an option not given. */
export interface OptionCheck {
  readonly is: (value: unknown) => boolean;
  readonly expected: string;
}

export type OptionChecks = Readonly<Record<string, OptionCheck>>;

export const isBoolean: OptionCheck = { is: (value) => typeof value === "boolean", expected: "true or false" };

/** What any way to reach a place by name understands. */
export const PLACE_CHECKS: OptionChecks = {
  durability: { is: (value) => value === "strict" || value === "relaxed", expected: '"strict" or "relaxed"' },
  busyTimeoutMs: { is: (value) => Number.isFinite(value) && Number(value) >= 0, expected: "milliseconds, 0 or more" },
  mustExist: isBoolean,
};

/** Throws `RecordInvalid` when there is an option of another name, or one that is not as it must be. */
export function checkOptions(call: string, options: unknown, checks: OptionChecks, where: string[] = []): void {
  if (typeof options !== "object" || options === null) throw new RecordInvalid(call, where, "expected an object");
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    const path = [...where, name];
    if (check === undefined) {
      throw new RecordInvalid(call, path, `not known here; known are ${Object.keys(checks).join(", ")}`);
    }
    if (value !== undefined && !check.is(value)) throw new RecordInvalid(call, path, `expected ${check.expected}`);
  }
}
