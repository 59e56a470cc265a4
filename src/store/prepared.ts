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
import { elementsOf, valuesOf } from "../records/reading.ts";
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

/** Throws `RecordInvalid`, whatever reading the arguments throws. */
export function prepareCommit(exe: Execution, effects: Effects = {}): PreparedCommit {
  if (typeof effects !== "object" || effects === null) {
    throw new RecordInvalid("commit", ["effects"], "expected an object");
  }
  const [emits, processedEventId = null, timers, spawns, trace = null] = valuesOf(effects, EFFECTS, [], () => true);
  if (processedEventId !== null) checkId("commit", processedEventId, ["processedEventId"]);
  return {
    exe: encodeExecution(exe),
    emits: list("emits", emits).map((emit, i) => encodeEmit(emit as Emit, ["emits", i])),
    processedEventId,
    timers: list("timers", timers).map((timer, i) => encodeTimer(timer as TimerOp, ["timers", i])),
    spawns: list("spawns", spawns).map((spawn, i) => encodeSpawn(spawn as Spawn, ["spawns", i])),
    trace: trace === null ? null : encodeTrace(trace as JsonObject, "commit", ["trace"]),
  };
}

/** An effect by another name would be lost without a word. */
const EFFECTS: readonly string[] = [
  "emits",
  "processedEventId",
  "timers",
  "spawns",
  "trace",
] satisfies (keyof Effects)[];

function list(name: string, value: unknown): readonly unknown[] {
  return value === null || value === undefined ? [] : elementsOf("commit", value, [name]);
}
