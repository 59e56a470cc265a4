// Records to stored text and back. Everything is checked and made text before any SQL runs. Missing keys take their
// defaults (an explicit undefined is a missing key), known keys come first and in order, unknown keys are kept.
import { create, type Struct, StructError } from "superstruct";
import { RecordInvalid } from "../errors.ts";
import { findProblem, isPlainObject, type Json, type JsonObject, parseStored, StoredJsonError } from "./json.ts";
import {
  ChildStruct,
  EmitStruct,
  type Event,
  type EventInput,
  EventStruct,
  type Execution,
  type ExecutionInput,
  ExecutionStruct,
  findMisfit,
  isId,
  type RecordStruct,
  SpawnStruct,
  type Emit,
  type Spawn,
  type TimerOp,
} from "./structs.ts";

type Path = readonly (string | number)[];

/** An Execution with every key: a fresh id and the defaults where nothing is given. Throws `RecordInvalid`. */
export function newExecution(fields: ExecutionInput): Execution {
  return checked("Execution", completeExecution(fields), ExecutionStruct);
}

/** An Event with every key: a fresh id and the defaults where nothing is given. Throws `RecordInvalid`. */
export function newEvent(fields: EventInput): Event {
  return checked("Event", complete("Event", fields, EventStruct), EventStruct);
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
  // A fresh id here would make a row that the caller cannot find again.
  if (isPlainObject(exe) && exe.id === undefined) throw new RecordInvalid("Execution", ["id"], "is missing");
  const full = checked("Execution", completeExecution(exe), ExecutionStruct);
  const expected = full.version;
  if (!Number.isSafeInteger(expected + 1) || expected < 0) {
    throw new RecordInvalid("Execution", ["version"], "expected a version of the store's");
  }
  full.version = expected + 1;
  return { id: full.id, definitionId: full.definition_id, data: JSON.stringify(full), expected };
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
  refuseUnknown(emit, ["target_id", "event"], path);
  const outer = complete("commit", emit, EmitStruct, path);
  outer["event"] = shaped("commit", outer["event"], EventStruct, [...path, "event"]);
  const full = checked("commit", outer, EmitStruct, path);
  return { target: full.target_id, event: JSON.stringify(full.event) };
}

/** A spawn row's texts. */
export function encodeSpawn(spawn: Spawn, path: Path): { childId: string; rootPath: string; context: string } {
  refuseUnknown(spawn, ["child_id", "root_path", "context"], path);
  const full = checked("commit", complete("commit", spawn, SpawnStruct, path), SpawnStruct, path);
  return { childId: full.child_id, rootPath: full.root_path, context: JSON.stringify(full.context) };
}

/** A timer operation: `fireAt` null takes the timer away. */
export function encodeTimer(timer: TimerOp, path: Path): { readonly path: string; readonly fireAt: number | null } {
  if (!isPlainObject(timer) || (timer.op !== "schedule" && timer.op !== "cancel")) {
    throw new RecordInvalid("commit", [...path, "op"], 'expected "schedule" or "cancel"');
  }
  refuseUnknown(timer, ["op", "path", "fire_at"], path);
  checkId("commit", timer.path, [...path, "path"]);
  if (timer.op === "cancel") return { path: timer.path, fireAt: null };
  checkInstant("commit", timer.fire_at, [...path, "fire_at"]);
  return { path: timer.path, fireAt: timer.fire_at };
}

/** A trace entry's text. */
export function encodeTrace(entry: JsonObject, record: string, path: Path = []): string {
  if (!isPlainObject(entry)) throw new RecordInvalid(record, path, "expected an object");
  checkJson(record, entry, path);
  return JSON.stringify(entry);
}

/** Rows keep these alone: what else is in them would be lost without a word. */
function refuseUnknown(value: object, known: readonly string[], path: Path): void {
  if (!isPlainObject(value)) return;
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    throw new RecordInvalid("commit", [...path, key], `not known; known are ${known.join(", ")}`);
  }
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
function completeExecution(exe: unknown, record = "Execution"): Record<string, unknown> {
  const full = complete(record, exe, ExecutionStruct);
  const { deferred, children } = full;
  if (Array.isArray(deferred)) {
    full["deferred"] = deferred.map((event, i) => shaped(record, event, EventStruct, ["deferred", i]));
  }
  if (isPlainObject(children)) {
    const all: Record<string, unknown> = {};
    for (const id of Object.keys(children)) {
      put(all, id, shaped(record, children[id], ChildStruct, ["children", id]));
    }
    full["children"] = all;
  }
  return full;
}

/** A copy with every key of the struct in its order, defaults where a key is missing, then the unknown keys. */
function complete<T>(
  record: string,
  value: unknown,
  struct: RecordStruct<T>,
  path: Path = [],
): Record<string, unknown> {
  if (!isPlainObject(value)) throw new RecordInvalid(record, path, "expected an object");
  const full: Record<string, unknown> = {};
  for (const key of Object.keys(struct.schema)) {
    const given = value[key];
    full[key] = given === undefined ? defaultOf(record, struct.schema[key]!, [...path, key]) : given;
  }
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(struct.schema, key) && value[key] !== undefined) put(full, key, value[key]);
  }
  return full;
}

function defaultOf(record: string, field: Struct, path: Path): unknown {
  try {
    return create(undefined, field);
  } catch (error) {
    if (error instanceof StructError) throw new RecordInvalid(record, path, "is missing");
    throw error;
  }
}

/** `full[key] = value`, for a key named `__proto__` too. */
function put(full: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(full, key, { value, enumerable: true, writable: true, configurable: true });
  else full[key] = value;
}

/** The record, shaped as its struct says and all of it JSON. */
function checked<T>(record: string, full: Record<string, unknown>, struct: RecordStruct<T>, path: Path = []): T {
  const value = validated(record, full, struct, path);
  checkJson(record, value, path);
  return value;
}

/** A completed copy, shaped as its struct says. */
function shaped<T>(record: string, value: unknown, struct: RecordStruct<T>, path: Path = []): T {
  return validated(record, complete(record, value, struct, path), struct, path);
}

function validated<T>(record: string, full: Record<string, unknown>, struct: RecordStruct<T>, path: Path = []): T {
  const misfit = findMisfit(full, struct);
  if (misfit === null) return full as T;
  throw new RecordInvalid(record, [...path, misfit.key], `expected ${misfit.expected}`);
}

function checkJson(record: string, value: unknown, path: Path): asserts value is Json {
  const found = findProblem(value);
  if (found !== null) throw new RecordInvalid(record, [...path, ...found.path], found.problem);
}
