// The suite's own assertions: it must run under any test runner, so it brings what it needs. They say where two values
// differ, and look at an error's class, fields and message.

/** What a failed assertion throws. */
class CheckFailed extends Error {
  override readonly name = "CheckFailed";
}

/** Fails unless `value` is true. */
export function ok(value: boolean, claim: string): asserts value {
  if (!value) throw new CheckFailed(`not so: ${claim}`);
}

/** Fails unless both values are equal all the way down. The order of keys does not count. */
export function equal(actual: unknown, expected: unknown, what: string = "value"): void {
  const difference = findDifference(actual, expected, what);
  if (difference !== null) throw new CheckFailed(difference);
}

/** Fails unless both are the same JSON text: the order of keys counts. */
export function sameText(actual: unknown, expected: unknown, what: string = "text"): void {
  equal(JSON.stringify(actual), JSON.stringify(expected), what);
}

/** A class of errors, abstract ones too. */
export type ErrorClass<E extends Error> = abstract new (...args: never[]) => E;

/** Fails unless `run` throws or rejects with an error of the class that has all of `fields`. Gives the error. */
export async function fails<E extends Error>(
  type: ErrorClass<E>,
  fields: Partial<{ [key in keyof E]: unknown }>,
  run: () => unknown,
  what: string = "error",
): Promise<E> {
  let result: unknown;
  try {
    result = await run();
  } catch (error) {
    if (!(error instanceof type)) throw new CheckFailed(`${what}: expected ${type.name}, got ${show(error)}`);
    for (const [key, expected] of Object.entries(fields)) equal(error[key as keyof E], expected, `${what}.${key}`);
    return error;
  }
  throw new CheckFailed(`${what}: expected ${type.name}, got no error but ${show(result)}`);
}

/** Fails unless `run` throws or rejects with this very error. */
export async function failsWith(error: Error, run: () => unknown, what: string = "error"): Promise<void> {
  const found = await fails(Error, {}, run, what);
  if (found !== error) throw new CheckFailed(`${what}: expected the same ${show(error)}, got ${show(found)}`);
}

function findDifference(actual: unknown, expected: unknown, at: string): string | null {
  if (Object.is(actual, expected) || (actual === 0 && expected === 0)) return null;
  const bothObjects =
    typeof actual === "object" && typeof expected === "object" && actual !== null && expected !== null;
  if (!bothObjects || Array.isArray(actual) !== Array.isArray(expected)) {
    return `${at}: expected ${show(expected)}, got ${show(actual)}`;
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  for (const key of keys) {
    const here = Array.isArray(expected) ? `${at}[${key}]` : `${at}.${key}`;
    if (!Object.hasOwn(actual, key)) return `${here}: expected ${show(valueAt(expected, key))}, got nothing`;
    if (!Object.hasOwn(expected, key)) return `${here}: expected nothing, got ${show(valueAt(actual, key))}`;
    const difference = findDifference(valueAt(actual, key), valueAt(expected, key), here);
    if (difference !== null) return difference;
  }
  return null;
}

function valueAt(object: object, key: string): unknown {
  return (object as Record<string, unknown>)[key];
}

function show(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
