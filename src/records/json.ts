// The user's JSON: what may be written, and how stored text is read without losing digits. Knows nothing of records.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** What is wrong with a value and where in it. `path` is relative to the value checked. */
export interface Problem {
  readonly path: (string | number)[];
  readonly problem: string;
}

/** SQLite's own JSON functions stop at 1000 levels; deeper documents could not be listed. */
const MAX_DEPTH = 900;

/** The first thing in `value` that JSON cannot carry unchanged, or null when there is none. */
export function findProblem(value: unknown, above: object[] = []): Problem | null {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? null : { path: [], problem: "a lone surrogate is not text" };
    case "number":
      return Number.isFinite(value) ? null : { path: [], problem: "NaN and Infinity are not JSON" };
    case "boolean":
      return null;
    case "object":
      return value === null ? null : findProblemInside(value, above);
    default:
      return { path: [], problem: `${typeof value} is not JSON` };
  }
}

/** `above` is one stack for the whole walk; after a problem nobody looks at it again. */
function findProblemInside(value: object, above: object[]): Problem | null {
  if (above.includes(value)) return { path: [], problem: "a cycle is not JSON" };
  if (above.length >= MAX_DEPTH) return { path: [], problem: `nested deeper than ${MAX_DEPTH} levels` };
  above.push(value);
  if (Array.isArray(value)) {
    // By index, not for…of: a hole is undefined, and undefined is refused.
    for (let i = 0; i < value.length; i++) {
      const found = findProblem(value[i], above);
      if (found !== null) return { ...found, path: [i, ...found.path] };
    }
    above.pop();
    return null;
  }
  if (!isPlainObject(value))
    return { path: [], problem: "only plain objects and arrays are JSON (of a Date store its toISOString())" };
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed()) return { path: [key.toWellFormed()], problem: "a lone surrogate is not text" };
    const found = findProblem(value[key], above);
    if (found !== null) return { ...found, path: [key, ...found.path] };
  }
  above.pop();
  return null;
}

/** An object literal, of this realm or another one: not a Date, a Map or an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Text that holds no number long enough to lose digits needs no second look. */
const MAY_LOSE_DIGITS = /\d{16}|\d[eE]\+?\d{2}/;
/** Thrown by `parseStored`; callers say which record it was. */
export class StoredJsonError extends Error implements Problem {
  readonly path: (string | number)[];
  readonly problem: string;

  constructor({ path, problem }: Problem) {
    super(problem);
    this.path = path;
    this.problem = problem;
  }
}

/**
 * Parses stored text. Integers that JavaScript cannot write back digit by digit are refused, never rounded.
 * With `pythonTokens`, NaN and Infinity (which Python's json writes) are read as null. Throws `StoredJsonError`.
 */
export function parseStored(text: string, pythonTokens = false): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (!pythonTokens) throw new StoredJsonError({ path: [], problem: "the stored text is not JSON" });
    return parseStored(withoutPythonTokens(text));
  }
  if (MAY_LOSE_DIGITS.test(text)) {
    const lost = findLostNumber(text);
    if (lost !== null) throw new StoredJsonError(lost);
  }
  return value;
}

/** NaN and Infinity outside of strings become null. */
function withoutPythonTokens(text: string): string {
  const token = /"|-?Infinity|NaN/g;
  let result = "";
  let done = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (match[0] === '"') token.lastIndex = endOfString(text, match.index);
    else {
      result += `${text.slice(done, match.index)}null`;
      done = token.lastIndex;
    }
  }
  return result + text.slice(done);
}

/**
 * Where the string that opens at `open` is over. By hand: a regular expression for it gives up on a string with millions
 * of escapes, with an error in V8 and without one in JavaScriptCore.
 */
function endOfString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Walks JSON text that is known to be well-formed, looking for a number that a double does not keep. */
function findLostNumber(text: string): Problem | null {
  const token = /-?\d[\d.eE+-]*|["[\]{},]/g;
  /** One step a level: an index for arrays, the last key for objects. */
  const path: (string | number)[] = [];
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match;
    const last = path.length - 1;
    if (found === "[") path.push(0);
    else if (found === "{") path.push("");
    else if (found === "]" || found === "}") path.pop();
    else if (found === ",") {
      const step = path[last];
      if (typeof step === "number") path[last] = step + 1;
    } else if (found === '"') {
      token.lastIndex = endOfString(text, match.index);
      if (typeof path[last] === "string" && /^\s*:/.test(text.slice(token.lastIndex, token.lastIndex + 32))) {
        path[last] = JSON.parse(text.slice(match.index, token.lastIndex)) as string;
      }
    } else if (losesDigits(found)) {
      return { path, problem: "a number that JavaScript cannot hold without losing digits" };
    }
  }
  return null;
}

/** A float is a double on both sides; an integer keeps its digits only if they come out the same. */
function losesDigits(literal: string): boolean {
  const value = Number(literal);
  if (/[.eE]/.test(literal)) return !Number.isFinite(value);
  return !Number.isSafeInteger(value) && String(value) !== literal;
}
