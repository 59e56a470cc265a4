// Every record, once: superstruct structs, and types inferred from them. Keys keep their stored names and stand in their
// stored order. What the user's JSON may hold is json.ts's business; how records become text is codec.ts's.
import { array, boolean, defaulted, define, enums, type Infer, integer, nullable, refine, string, type } from "superstruct";
import { isPlainObject, type JsonObject } from "./json.ts";

/** A statechart run's state of life. */
export const STATUSES = ["PENDING", "RUNNING", "DONE", "CANCELLED", "SUSPENDED", "CANCELLING", "FAILED"] as const;
export type Status = (typeof STATUSES)[number];

/** Text that SQLite and every reader of it keep whole: no lone surrogate, and no U+0000, which ends a C string. */
export const Id = refine(string(), "id", isId);

/** Whether `value` can be an id or a path. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

/** The user's own object: never renamed, never reordered. json.ts looks inside. */
const UserObject = define<JsonObject>("object", isPlainObject);

const Dictionary = <T>(name: string, isValue: (value: unknown) => value is T) =>
  define<Record<string, T>>(name, (value) => isPlainObject(value) && Object.values(value).every(isValue));

const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value);
const nothing = null;
/** 32 hexadecimal digits, as the original writes ids. */
export const newId = (): string => crypto.randomUUID().replaceAll("-", "");

/** Something that happened, addressed to an Execution. */
export const EventStruct = type({
  id: defaulted(Id, newId),
  kind: Id,
  /** ISO 8601. */
  created_time: defaulted(nullable(string()), nothing),
  /** ISO 8601. */
  received_time: defaulted(nullable(string()), nothing),
  data: defaulted(UserObject, () => ({})),
});
export type Event = Infer<typeof EventStruct>;

/** What an Execution remembers of one it invoked. */
export const ChildStruct = type({
  root_path: Id,
  finished: defaulted(boolean(), false),
  outcome: defaulted(nullable(string()), nothing),
  result: defaulted(UserObject, () => ({})),
  submachine: defaulted(boolean(), false),
  key: defaulted(string(), ""),
});
export type Child = Infer<typeof ChildStruct>;

/** One run of a statechart. `version` is the store's: leave it alone. */
export const ExecutionStruct = type({
  id: defaulted(Id, newId),
  definition_id: Id,
  definition_fqn: defaulted(nullable(string()), nothing),
  root_path: defaulted(Id, ""),
  status: defaulted(enums(STATUSES), "PENDING"),
  outcome: defaulted(nullable(string()), nothing),
  error: defaulted(nullable(string()), nothing),
  active_path: defaulted(nullable(Id), nothing),
  history: defaulted(UserObject, () => ({})),
  context: defaulted(UserObject, () => ({})),
  processed_events: defaulted(integer(), 0),
  version: defaulted(integer(), 0),
  priority: defaulted(enums([0, 1, 2, 3, 4]), 0),
  parent_id: defaulted(nullable(Id), nothing),
  child_id: defaulted(nullable(Id), nothing),
  deferred: defaulted(array(EventStruct), () => []),
  children: defaulted(
    define<Record<string, Child>>("object", (value) => isPlainObject(value) && Object.keys(value).every(isId)),
    () => ({}),
  ),
  invoke_seq: defaulted(Dictionary("object of integers", isSafeInteger), () => ({})),
});
export type Execution = Infer<typeof ExecutionStruct>;

/** An event to be delivered; `target_id` null means to whoever listens. */
export const EmitStruct = type({ target_id: defaulted(nullable(Id), nothing), event: EventStruct });
export type Emit = { target_id?: string | null; event: EventInput };

/** A child to be started. */
export const SpawnStruct = type({
  child_id: Id,
  root_path: defaulted(Id, ""),
  context: defaulted(UserObject, () => ({})),
});
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
  status: string;
  outcome: string | null;
  active_path: string | null;
  version: number;
  parent_id: string | null;
};

/** What makes an Event: `kind`, and whatever else is known. */
export type EventInput = Pick<Event, "kind"> & Partial<Event>;
/** What makes an Execution: `definition_id`, and whatever else is known. */
export type ExecutionInput = Pick<Execution, "definition_id"> & Partial<Execution>;
