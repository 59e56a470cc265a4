// The user's arguments, checked and made text: what the core runs. Nothing here touches the database, so a bad record
// is refused before any SQL runs, and what the user changes after the call does not count.
import { RecordInvalid } from "../errors.ts";
import {
  checkId,
  encodeEmit,
  type EncodedExecution,
  encodeExecution,
  encodeSpawn,
  encodeTimer,
  encodeTrace,
} from "../records/codec.ts";
import type { JsonObject } from "../records/json.ts";
import type { Emit, Execution, Spawn, TimerOp } from "../records/structs.ts";

/** What an event did besides changing its Execution. All of it lands with the new state, or none of it. */
export interface Effects {
  /** Events for others, in order. */
  readonly emits?: readonly Emit[] | null;
  /** The event just handled: from now on `isProcessed`. */
  readonly processedEventId?: string | null;
  /** Timer operations, in order. */
  readonly timers?: readonly TimerOp[] | null;
  /** Children to start, in order. */
  readonly spawns?: readonly Spawn[] | null;
  /** The step for the trace ring. */
  readonly trace?: JsonObject | null;
}

export interface PreparedCommit {
  readonly exe: EncodedExecution;
  readonly emits: readonly ReturnType<typeof encodeEmit>[];
  readonly processedEventId: string | null;
  readonly timers: readonly ReturnType<typeof encodeTimer>[];
  readonly spawns: readonly ReturnType<typeof encodeSpawn>[];
  readonly trace: string | null;
}

/** Throws `RecordInvalid`. */
export function prepareCommit(exe: Execution, effects: Effects = {}): PreparedCommit {
  refuseUnknown(effects, EFFECTS);
  const { emits, processedEventId = null, timers, spawns, trace = null } = effects;
  if (processedEventId !== null) checkId("commit", processedEventId, ["processedEventId"]);
  return {
    exe: encodeExecution(exe),
    emits: list("emits", emits).map((emit, i) => encodeEmit(emit, ["emits", i])),
    processedEventId,
    timers: list("timers", timers).map((timer, i) => encodeTimer(timer, ["timers", i])),
    spawns: list("spawns", spawns).map((spawn, i) => encodeSpawn(spawn, ["spawns", i])),
    trace: trace === null ? null : encodeTrace(trace, "commit", ["trace"]),
  };
}

const EFFECTS: readonly string[] = [
  "emits",
  "processedEventId",
  "timers",
  "spawns",
  "trace",
] satisfies (keyof Effects)[];

/** An effect by another name would be lost without a word. */
function refuseUnknown(effects: unknown, known: readonly string[]): void {
  if (typeof effects !== "object" || effects === null)
    throw new RecordInvalid("commit", ["effects"], "expected an object");
  for (const key of Object.keys(effects)) {
    if (!known.includes(key)) throw new RecordInvalid("commit", [key], `not known; known are ${known.join(", ")}`);
  }
}

function list<T>(name: string, value: readonly T[] | null | undefined): readonly T[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new RecordInvalid("commit", [name], "expected an array");
  // A hole would be passed over; as undefined it is refused.
  return Array.from(value as readonly T[]);
}
