// The user's JSON: what may be written, and how stored text is read without losing digits. Knows nothing of records.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** What is wrong with a value and where in it. `path` is relative to the value checked. */
export interface Problem {
  readonly path: (string | number)[];
  readonly problem: string;
  /** What the value itself threw. */
  readonly cause?: unknown;
}

/** SQLite's own JSON functions stop at 1000 levels; deeper documents could not be listed. */
const MAX_DEPTH = 900;
/** What user code is: getters, and the traps of Proxies. The error itself is the cause. */
export const THREW = "reading it threw an error";
const LONE_SURROGATE = "a lone surrogate is not text";

/** The JSON text of `value`, or the first thing in it that JSON cannot carry unchanged. Never throws. */
export function textOf(value: unknown): string | Problem {
  return findProblem(value, []) ?? stringify(value);
}

/** `textOf`, for an object that this library made: only its values are the user's. */
export function textOfRecord(record: Readonly<Record<string, unknown>>): string | Problem {
  return findProblemAt(Object.keys(record), record, [record]) ?? stringify(record);
}

function stringify(value: unknown): string | Problem {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    return { path: [], problem: THREW, cause };
  }
  // Lone surrogates are all that is escaped so; to look for them here is cheaper than in each string.
  return text.includes("\\ud") ? (findLoneSurrogate(JSON.parse(text) as Json) ?? text) : text;
}

function findProblem(value: unknown, above: object[]): Problem | null {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? null : { path: [], problem: "NaN and Infinity are not JSON" };
    case "string":
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
  let looksForToJson = false;
  let found: Problem | null;
  try {
    if (!isPlain(value)) {
      return { path: [], problem: "only plain objects and arrays are JSON (a Date as its toISOString())" };
    }
    looksForToJson = true;
    if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
      return { path: ["toJSON"], problem: "a toJSON is not JSON" };
    }
    looksForToJson = false;
    if (Array.isArray(value)) found = findProblemInArray(value, above) ?? findStrayKey(value);
    else found = findSymbol(value) ?? findProblemAt(Object.keys(value), value, above);
  } catch (cause) {
    return { path: looksForToJson ? ["toJSON"] : [], problem: THREW, cause };
  }
  above.pop();
  return found;
}

// Two loops that are alike: one for both is slower.
function findProblemAt(keys: readonly string[], value: object, above: object[]): Problem | null {
  for (const key of keys) {
    let found: Problem | null;
    try {
      found = findProblem((value as Record<string, unknown>)[key], above);
    } catch (cause) {
      return { path: [key], problem: THREW, cause };
    }
    if (found !== null) return { ...found, path: [key, ...found.path] };
  }
  return null;
}

function findProblemInArray(array: readonly unknown[], above: object[]): Problem | null {
  // By index, not for…of: a hole is undefined, and undefined is refused.
  for (let i = 0; i < array.length; i++) {
    let found: Problem | null;
    try {
      found = findProblem(array[i], above);
    } catch (cause) {
      return { path: [i], problem: THREW, cause };
    }
    if (found !== null) return { ...found, path: [i, ...found.path] };
  }
  return null;
}

/** What JSON leaves out of an array: keys that are no index, and symbols. */
export function findStrayKey(array: readonly unknown[]): Problem | null {
  // They come after all indexes; in an array without holes the last key is the last index.
  const keys = Object.keys(array);
  const { length } = keys;
  if (length === array.length && (length === 0 || keys[length - 1] === String(length - 1))) return findSymbol(array);
  const stray = keys.find((key) => String(Number(key) >>> 0) !== key);
  return stray === undefined ? findSymbol(array) : { path: [stray], problem: "not a key in JSON" };
}

/** What JSON leaves out of any object: keys that are symbols. */
export function findSymbol(value: object): Problem | null {
  const symbols = Object.getOwnPropertySymbols(value);
  if (symbols.length === 0) return null;
  const symbol = symbols.find((key) => Object.prototype.propertyIsEnumerable.call(value, key));
  return symbol === undefined ? null : { path: [String(symbol).toWellFormed()], problem: "not a key in JSON" };
}

function findLoneSurrogate(value: Json): Problem | null {
  if (typeof value === "string") return value.isWellFormed() ? null : { path: [], problem: LONE_SURROGATE };
  if (typeof value !== "object" || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    if (!key.isWellFormed()) return { path: [key.toWellFormed()], problem: LONE_SURROGATE };
    const found = findLoneSurrogate(inner);
    if (found !== null) return { ...found, path: [Array.isArray(value) ? Number(key) : key, ...found.path] };
  }
  return null;
}

/** An object literal, of this realm or another one: not a Date, a Map or an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value);
}

/** Whether nothing but its own keys or elements makes up a value: its class would be lost. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value)) return prototype === Object.prototype || prototype === null || isRoot(prototype);
  return prototype === Array.prototype || (prototype !== null && isRoot(Object.getPrototypeOf(prototype)));
}

/** Object.prototype, of this realm or another one. */
const isRoot = (prototype: unknown): boolean => prototype !== null && Object.getPrototypeOf(prototype) === null;

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
