// Every record, once: superstruct structs, and types inferred from them. Keys keep their stored names and stand in their
// stored order. What the user's JSON may hold is json.ts's business; how records become text is codec.ts's.
import { define, type Infer, type Struct, type } from "superstruct";
import { isPlainObject, type JsonObject, type Problem, THREW } from "./json.ts";

/** A statechart run's state of life. */
export const STATUSES = ["PENDING", "RUNNING", "DONE", "CANCELLED", "SUSPENDED", "CANCELLING", "FAILED"] as const;
export type Status = (typeof STATUSES)[number];

type Guard<T> = (value: unknown) => value is T;

/** Text that SQLite and every reader of it keep whole: no lone surrogate, and no U+0000, which ends a C string. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0") && value.isWellFormed();
}

const isText: Guard<string> = (value) => typeof value === "string";
const isBoolean: Guard<boolean> = (value) => typeof value === "boolean";
const isInteger = Number.isSafeInteger as Guard<number>;
const isUserObject = isPlainObject as Guard<JsonObject>;
const isStatus = ((value) => STATUSES.includes(value as Status)) as Guard<Status>;
const isPriority = ((value) => isInteger(value) && value >= 0 && value <= 4) as Guard<number>;
const orNull =
  <T>(is: Guard<T>): Guard<T | null> =>
  (value): value is T | null =>
    value === null || is(value);
const dictionaryOf =
  <T>(is: Guard<T>): Guard<Record<string, T>> =>
  (value): value is Record<string, T> =>
    isPlainObject(value) && Object.keys(value).every((key) => isId(key) && is(value[key]));

/** What superstruct would ask of a field, asked without it: that saves most of what it costs in every commit. */
interface Rule {
  readonly is: Guard<unknown>;
  /** What a missing key becomes. */
  readonly fallback: (() => unknown) | undefined;
}
const rules = new WeakMap<object, Rule>();

function field<T>(name: string, is: Guard<T>, fallback?: () => NoInfer<T>): Struct<T, null> {
  const struct = define<T>(name, is);
  rules.set(struct, { is, fallback });
  return struct;
}

const ID = "text without U+0000 and lone surrogates";
const id = (fallback?: () => string): Struct<string, null> => field(ID, isId, fallback);
const optionalId = (): Struct<string | null, null> => field(`${ID}, or null`, orNull(isId), () => null);
const optionalText = (): Struct<string | null, null> => field("text or null", orNull(isText), () => null);
const integer = (): Struct<number, null> => field("an integer", isInteger, () => 0);
const flag = (): Struct<boolean, null> => field("true or false", isBoolean, () => false);
/** The user's own: never renamed, never reordered. json.ts looks inside. */
const userObject = (): Struct<JsonObject, null> => field("an object", isUserObject, () => ({}));

/** A field of a record, as encoding and decoding ask for it. */
export interface Field extends Rule {
  readonly key: string;
  readonly expected: string;
}

/** superstruct's own ObjectSchema, which it does not export. */
type Schema = Parameters<typeof type>[0];

/** A record's struct, with its fields in their order: to go through the schema for each record takes longer. */
export type RecordStruct<T> = Struct<T, Schema> & { readonly fields: readonly Field[] };

function recordOf<S extends Schema>(schema: S): ReturnType<typeof type<S>> & { readonly fields: readonly Field[] } {
  const fields = Object.entries(schema).map(([key, one]) => {
    const { is, fallback } = rules.get(one)!;
    // Not spread: objects made so are slower to read, and these are read in every commit.
    return { key, is, fallback, expected: one.type };
  });
  return Object.assign(type(schema), { fields });
}

/** Whether every field is as its struct wants it. */
function fits<T>(value: Record<string, unknown>, struct: RecordStruct<T>): boolean {
  return findMisfit(value, struct) === null;
}

/**
 * The first field that is not as its struct wants it. superstruct itself would tell it too, but asks the value for its
 * text on the way: that is the user's code.
 */
export function findMisfit<T>(value: Record<string, unknown>, { fields }: RecordStruct<T>): Problem | null {
  for (const { key, is, expected } of fields) {
    try {
      if (!is(value[key])) return { path: [key], problem: `expected ${expected}` };
    } catch (cause) {
      return { path: [key], problem: THREW, cause };
    }
  }
  return null;
}

/** 32 hexadecimal digits, as the original writes ids. */
const newId = (): string => crypto.randomUUID().replaceAll("-", "");

/** Something that happened, addressed to an Execution. */
export const EventStruct = recordOf({
  id: id(newId),
  kind: id(),
  /** ISO 8601. */
  created_time: optionalText(),
  /** ISO 8601. */
  received_time: optionalText(),
  data: userObject(),
});
/** Something that happened, addressed to an Execution. Times are ISO 8601 by convention. */
export interface Event extends Infer<typeof EventStruct> {}

/** What an Execution remembers of one it invoked. */
export const ChildStruct = recordOf({
  root_path: id(),
  finished: flag(),
  outcome: optionalText(),
  result: userObject(),
  submachine: flag(),
  key: field("text", isText, () => ""),
});
/** What an Execution remembers of one it invoked. */
export interface Child extends Infer<typeof ChildStruct> {}

const isEvent = ((value) => isPlainObject(value) && fits(value, EventStruct)) as Guard<Event>;
const isChild = ((value) => isPlainObject(value) && fits(value, ChildStruct)) as Guard<Child>;
const isEvents = ((value) => Array.isArray(value) && value.every(isEvent)) as Guard<Event[]>;

/** One run of a statechart. `version` is the store's: leave it alone. */
export const ExecutionStruct = recordOf({
  id: id(newId),
  definition_id: id(),
  definition_fqn: optionalText(),
  root_path: id(() => ""),
  status: field<Status>("one of the statuses", isStatus, () => "PENDING"),
  outcome: optionalText(),
  error: optionalText(),
  active_path: optionalId(),
  history: userObject(),
  context: userObject(),
  processed_events: integer(),
  version: integer(),
  priority: field("an integer from 0 to 4", isPriority, () => 0),
  parent_id: optionalId(),
  child_id: optionalId(),
  deferred: field("an array of events", isEvents, () => []),
  children: field<Record<string, Child>>("an object of children", dictionaryOf(isChild), () => ({})),
  invoke_seq: field<Record<string, number>>("an object of integers", dictionaryOf(isInteger), () => ({})),
});
/** One run of a statechart. `version` is the store's: leave it alone. */
export interface Execution extends Infer<typeof ExecutionStruct> {}

/** One that is to be written: a fresh id would make a row that the caller cannot find again. */
export const WrittenExecutionStruct: typeof ExecutionStruct = recordOf({ ...ExecutionStruct.schema, id: id() });

/** An event to be delivered; `target_id` null means to whoever listens. */
export const EmitStruct = recordOf({ target_id: optionalId(), event: field("an event", isEvent) });
export type Emit = { target_id?: string | null; event: EventInput };

/** A child to be started. */
export const SpawnStruct = recordOf({ child_id: id(), root_path: id(() => ""), context: userObject() });
export type Spawn = { child_id: string; root_path?: string; context?: JsonObject };

/** Sets a timer, replacing the one at the same path, or takes it away. `fire_at` is seconds since the epoch. */
export type TimerOp = { op: "schedule"; path: string; fire_at: number } | { op: "cancel"; path: string };

/** A recorded step. `index` counts from 0 for each Execution and comes from the store. */
export type TraceEntry = JsonObject & { index: number };

/** An event that waits for delivery. */
export type OutboxRow = { seq: number; target_id: string | null; event: Event };

/** A child that waits to be started. */
export type SpawnRow = { seq: number; parent_id: string; child_id: string; root_path: string; context: JsonObject };

/** A timer that is set. `fire_at` is seconds since the epoch. */
export type Timer = { execution_id: string; path: string; fire_at: number };

/** What a listing shows of an Execution. */
export type ExecutionSummary = {
  id: string;
  definition_id: string;
  status: Status;
  outcome: string | null;
  active_path: string | null;
  version: number;
  parent_id: string | null;
};

/** What makes an Event: `kind`, and whatever else is known. */
export type EventInput = Pick<Event, "kind"> & Partial<Event>;
/** What makes an Execution: `definition_id`, and whatever else is known. */
export type ExecutionInput = Pick<Execution, "definition_id"> & Partial<Execution>;
