// The caller's values as they are read. To read one may run the caller's code, a getter or a Proxy's trap, and what that
// throws is a `RecordInvalid` with it as the cause. Knows no record.
import { RecordInvalid } from "../errors.ts";
import { findSymbol, isPlainObject, type Problem, THREW } from "./json.ts";

export type Path = readonly (string | number)[];

/** The keys of an object. */
export function keysOf(
  record: string,
  value: unknown,
  path: Path,
  isObject: (value: unknown) => boolean = isPlainObject,
): string[] {
  let keys: string[] | null;
  try {
    keys = isObject(value) ? Object.keys(value as object) : null;
  } catch (cause) {
    throw new RecordInvalid(record, path, THREW, { cause });
  }
  if (keys === null) throw new RecordInvalid(record, path, "expected an object");
  return keys;
}

/** Refuses a key that JSON would leave out: what is copied of a record has it no more. */
export function refuseStray(
  record: string,
  value: object,
  path: Path,
  find: (value: never) => Problem | null = findSymbol,
): void {
  let found: Problem | null;
  try {
    found = find(value as never);
  } catch (cause) {
    throw new RecordInvalid(record, path, THREW, { cause });
  }
  if (found !== null) throw refused(record, path, found);
}

/** `value[key]`, which may be a getter of the caller's. */
export function read(record: string, value: object, key: string, path: Path): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch (cause) {
    throw new RecordInvalid(record, [...path, key], THREW, { cause });
  }
}

/** The values of an object that may have these keys and no others, each read once. */
export function valuesOf(
  value: unknown,
  known: readonly string[],
  path: Path,
  isObject: (value: unknown) => boolean = isPlainObject,
): unknown[] {
  for (const key of keysOf("commit", value, path, isObject)) {
    if (!known.includes(key)) throw unknownKey(known, [...path, key]);
  }
  return known.map((key) => read("commit", value as object, key, path));
}

/** Rows keep known keys alone: what else is in them would be lost without a word. */
export function unknownKey(known: readonly string[], path: Path): RecordInvalid {
  return new RecordInvalid("commit", path, `not known; known are ${known.join(", ")}`);
}

/** The elements of a list of records. A hole is an undefined element, and no record is undefined. */
export function elementsOf(record: string, value: unknown, path: Path): unknown[] {
  const elements: unknown[] = [];
  let isArray = false;
  try {
    if (Array.isArray(value)) {
      isArray = true;
      // Nobody looks beyond a hole, and an array may be nothing but holes.
      for (let i = 0; i < value.length && (i === 0 || elements[i - 1] !== undefined); i++) elements.push(value[i]);
    }
  } catch (cause) {
    throw new RecordInvalid(record, isArray ? [...path, elements.length] : path, THREW, { cause });
  }
  if (!isArray) throw new RecordInvalid(record, path, "expected an array");
  return elements;
}

/** What was found, as the error that tells where in which record. */
export function refused(record: string, path: Path, { path: inside, problem, ...cause }: Problem): RecordInvalid {
  return new RecordInvalid(record, [...path, ...inside], problem, cause);
}
