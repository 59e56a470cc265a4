// Records to stored text and back. Everything is checked and made text before any SQL runs. Missing keys take their
// defaults (an explicit undefined is a missing key), known keys come first and in order, unknown keys are kept.
import { RecordInvalid } from "../errors.ts";
import {
  findStrayKey,
  isPlainObject,
  type JsonObject,
  parseStored,
  type Problem,
  StoredJsonError,
  textOf,
  textOfRecord,
} from "./json.ts";
import { elementsOf, keysOf, type Path, read, refused, refuseStray, unknownKey, valuesOf } from "./reading.ts";
import {
  ChildStruct,
  EmitStruct,
  type Event,
  type EventInput,
  EventStruct,
  type Execution,
  type ExecutionInput,
  ExecutionStruct,
  type Field,
  findMisfit,
  isId,
  type RecordStruct,
  SpawnStruct,
  type Emit,
  type Spawn,
  type TimerOp,
  WrittenExecutionStruct,
} from "./structs.ts";

/** An Execution with every key: a fresh id and the defaults where nothing is given. Throws `RecordInvalid`. */
export function newExecution(fields: ExecutionInput): Execution {
  const full = validated("Execution", completeExecution(fields), ExecutionStruct);
  told("Execution", textOfRecord(full));
  // Empty ones are still the caller's own.
  return { ...full, deferred: [...full.deferred], children: { ...full.children } };
}

/** An Event with every key: a fresh id and the defaults where nothing is given. Throws `RecordInvalid`. */
export function newEvent(fields: EventInput): Event {
  const full = shaped("Event", fields, EventStruct);
  told("Event", textOfRecord(full));
  return full;
}

/** What a commit writes of an Execution. */
export interface EncodedExecution {
  readonly id: string;
  readonly definitionId: string;
  readonly data: string;
  /** The version the write is based on; `data` carries the next one. */
  readonly expected: number;
}

/** The text of an Execution as it will be after a successful write. Throws `RecordInvalid`. */
export function encodeExecution(exe: ExecutionInput): EncodedExecution {
  const full = validated("Execution", completeExecution(exe, "Execution", WrittenExecutionStruct), ExecutionStruct);
  const expected = full.version;
  if (!Number.isSafeInteger(expected + 1) || expected < 0) {
    throw new RecordInvalid("Execution", ["version"], "expected a version of the store's");
  }
  full.version = expected + 1;
  return { id: full.id, definitionId: full.definition_id, data: told("Execution", textOfRecord(full)), expected };
}

/** A fresh Execution from stored text. Throws `RecordInvalid`. */
export function decodeExecution(id: string, text: string): Execution {
  const record = `Execution ${id}`;
  const parsed = parseRecord(record, text);
  // The row knows whose it is; a fresh id would be another Execution's.
  if (parsed["id"] === undefined) parsed["id"] = id;
  return validated(record, completeExecution(parsed, record), ExecutionStruct);
}

/** A fresh Event from an outbox row. Throws `RecordInvalid`. */
export function decodeEvent(record: string, text: string): Event {
  return shaped(record, parseRecord(record, text), EventStruct);
}

/** An object from stored text in which Python may have written NaN. Throws `RecordInvalid`. */
export function decodeObject(record: string, text: string): JsonObject {
  return parseRecord(record, text, true) as JsonObject;
}

/** An outbox row's text. */
export function encodeEmit(emit: Emit, path: Path): { readonly target: string | null; readonly event: string } {
  const outer = complete("commit", emit, EmitStruct, path, true);
  outer["event"] = shaped("commit", outer["event"], EventStruct, [...path, "event"]);
  const full = validated("commit", outer, EmitStruct, path);
  return { target: full.target_id, event: told("commit", textOfRecord(full.event), [...path, "event"]) };
}

/** A spawn row's texts. */
export function encodeSpawn(spawn: Spawn, path: Path): { childId: string; rootPath: string; context: string } {
  const full = validated("commit", complete("commit", spawn, SpawnStruct, path, true), SpawnStruct, path);
  const context = told("commit", textOf(full.context), [...path, "context"]);
  return { childId: full.child_id, rootPath: full.root_path, context };
}

const TIMER_KEYS: readonly string[] = ["op", "path", "fire_at"];

/** A timer operation: `fireAt` null takes the timer away. */
export function encodeTimer(timer: TimerOp, path: Path): { readonly path: string; readonly fireAt: number | null } {
  const [op, at, fireAt] = valuesOf(timer, TIMER_KEYS, path);
  if (op !== "schedule" && op !== "cancel") {
    throw new RecordInvalid("commit", [...path, "op"], 'expected "schedule" or "cancel"');
  }
  checkId("commit", at, [...path, "path"]);
  if (op === "cancel") return { path: at, fireAt: null };
  checkInstant("commit", fireAt, [...path, "fire_at"]);
  return { path: at, fireAt };
}

/** A trace entry's text. */
export function encodeTrace(entry: JsonObject, record: string, path: Path = []): string {
  const text = told(record, textOf(entry), path);
  if (!text.startsWith("{")) throw new RecordInvalid(record, path, "expected an object");
  return text;
}

/** Refuses what cannot be an id or a path. */
export function checkId(record: string, value: unknown, path: Path = []): asserts value is string {
  if (isId(value)) return;
  const given = typeof value === "string" ? "" : `, got ${value === null ? "null" : typeof value}`;
  throw new RecordInvalid(record, path, `expected text without U+0000 and lone surrogates${given}`);
}

/** Refuses what cannot be an instant in seconds. */
export function checkInstant(record: string, value: unknown, path: Path = []): asserts value is number {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new RecordInvalid(record, path, "expected seconds since the epoch");
  }
}

function parseRecord(record: string, text: string, pythonTokens = false): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = parseStored(text, pythonTokens);
  } catch (error) {
    if (error instanceof StoredJsonError) throw new RecordInvalid(record, error.path, error.problem);
    throw error;
  }
  if (!isPlainObject(parsed)) throw new RecordInvalid(record, [], "expected an object");
  return parsed;
}

/** `complete`, for the records inside an Execution too. */
function completeExecution(exe: unknown, record = "Execution", struct = ExecutionStruct): Record<string, unknown> {
  const full = complete(record, exe, struct);
  const { deferred, children } = full;
  const events = elementsOf(record, deferred, ["deferred"]);
  if (events.length > 0) {
    refuseStray(record, deferred as object, ["deferred"], findStrayKey);
    full["deferred"] = events.map((event, i) => shaped(record, event, EventStruct, ["deferred", i]));
  }
  const ids = keysOf(record, children, ["children"]);
  if (ids.length > 0) {
    refuseStray(record, children as object, ["children"]);
    const all: Record<string, unknown> = {};
    for (const id of ids) {
      put(all, id, shaped(record, read(record, children as object, id, ["children"]), ChildStruct, ["children", id]));
    }
    full["children"] = all;
  }
  return full;
}

/** A copy with every key of the struct in its order, defaults where a key is missing, then the unknown keys. */
function complete<T>(
  record: string,
  value: unknown,
  { fields, schema }: RecordStruct<T>,
  path: Path = [],
  refusesUnknown = false,
): Record<string, unknown> {
  const keys = keysOf(record, value, path);
  if (!refusesUnknown) refuseStray(record, value as object, path);
  const copy = copied(value as object, keys, fields);
  if (copy !== null) return copy;
  const full: Record<string, unknown> = {};
  for (const { key, fallback } of fields) {
    const given = read(record, value as object, key, path);
    if (given === undefined && fallback === undefined) throw new RecordInvalid(record, [...path, key], "is missing");
    full[key] = given === undefined ? fallback!() : given;
  }
  for (const key of keys) {
    if (Object.hasOwn(schema, key)) continue;
    if (refusesUnknown) throw unknownKey(Object.keys(schema), [...path, key]);
    const given = read(record, value as object, key, path);
    if (given !== undefined) put(full, key, given);
  }
  return full;
}

/** A copy of what has just the keys it should have, in their order, as most records have; else null. */
function copied(value: object, keys: readonly string[], fields: readonly Field[]): Record<string, unknown> | null {
  if (keys.length !== fields.length) return null;
  for (let i = 0; i < keys.length; i++) if (keys[i] !== fields[i]!.key) return null;
  try {
    const copy = { ...value };
    return Object.values(copy).includes(undefined) ? null : copy;
  } catch {
    // A getter threw: read one by one, they tell which.
    return null;
  }
}

/** `full[key] = value`, for a key named `__proto__` too. */
function put(full: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(full, key, { value, enumerable: true, writable: true, configurable: true });
  else full[key] = value;
}

/** A completed copy, shaped as its struct says. */
function shaped<T>(record: string, value: unknown, struct: RecordStruct<T>, path: Path = []): T {
  return validated(record, complete(record, value, struct, path), struct, path);
}

function validated<T>(record: string, full: Record<string, unknown>, struct: RecordStruct<T>, path: Path = []): T {
  const misfit = findMisfit(full, struct);
  if (misfit !== null) throw refused(record, path, misfit);
  return full as T;
}

/** The text, unless it is a problem. */
function told(record: string, text: string | Problem, path: Path = []): string {
  if (typeof text !== "string") throw refused(record, path, text);
  return text;
}
