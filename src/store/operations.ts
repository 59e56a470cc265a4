// The operations as both shells offer them: arguments checked at the call, before anything waits, and made into work on
// the core. A shell adds only when and how the work runs: now, or in its turn.
import { RecordInvalid } from "../errors.ts";
import { checkId, checkInstant, encodeTrace } from "../records/codec.ts";
import type { JsonObject } from "../records/json.ts";
import type { Change, Problem, RowKind } from "../port.ts";
import type { Execution, OutboxRow, SpawnRow, Timer, TraceEntry } from "../records/structs.ts";
import { checkSeq, type LimitOptions, optionalLimit } from "./arguments.ts";
import type { Core } from "./core.ts";
import { type ListOptions, type Page, planListing } from "./listing.ts";
import { type Effects, prepareCommit, type PreparedCommit } from "./prepared.ts";
import type { Session } from "./session.ts";

/** A database that is all wrong says the same again and again. */
const DEFAULT_PROBLEMS = 1000;

/** Work on a session: a read, or a write that needs the lease and a flush. */
export interface Work<T> {
  readonly writes: boolean;
  /** Looks at the pages themselves, and so cannot run in a transaction that others have begun. */
  readonly alone?: true;
  /** Wants the adapter to look at its storage too, under the lease, and adds what that found. */
  inspect?(own: T, found: readonly Problem[]): T;
  /** What it changes, for those who watch; null when there is nothing to tell. */
  readonly change: Change | null;
  run(session: Session): T;
  /** What is left to do once the work is durable. */
  done(): void;
}

const reading = <T>(run: (core: Core) => T): Work<T> => ({
  writes: false,
  change: null,
  run: ({ core }) => run(core),
  done: () => {},
});
const writing = (change: Change, run: (core: Core) => void, done: () => void = () => {}): Work<void> => ({
  writes: true,
  change,
  run: ({ core }) => run(core),
  done,
});

/** Flushes that may be fenced in a row before a caller is told. */
export const FENCED_TRIES = 4;

/** The first work of a store on a new place, or on one from before our indexes. */
export const createSchema: Work<void> = {
  writes: true,
  change: null,
  run: (session) => session.createSchema(),
  done: () => {},
};

/** The kinds of rows a commit writes. */
function kindsOf({ emits, processedEventId, timers, spawns, trace }: PreparedCommit): RowKind[] {
  const kinds: RowKind[] = ["executions"];
  if (emits.length > 0) kinds.push("outbox");
  if (processedEventId !== null) kinds.push("processed_events");
  if (timers.length > 0) kinds.push("timers");
  if (spawns.length > 0) kinds.push("spawns");
  if (trace !== null) kinds.push("trace");
  return kinds;
}

/** A version that cannot be told would be found out when the write is durable already, too late to refuse it. */
function checkVersionIsOurs(exe: Execution): void {
  const version = Object.getOwnPropertyDescriptor(exe, "version");
  if (version === undefined ? Object.isExtensible(exe) : version.writable === true || version.set !== undefined) return;
  throw new RecordInvalid("Execution", ["version"], "must be writable, the store counts it up; this record is frozen");
}

/** Each operation, from its arguments to its work. Throws `RecordInvalid` at once. */
export const operations = {
  load(id: string): Work<Execution | null> {
    checkId("load", id, ["id"]);
    return reading((core) => core.load(id));
  },
  loadForEvent(id: string, eventId: string): Work<[Execution | null, boolean]> {
    checkId("loadForEvent", id, ["id"]);
    checkId("loadForEvent", eventId, ["eventId"]);
    return reading((core) => core.loadForEvent(id, eventId));
  },
  commit(exe: Execution, effects?: Effects): Work<void> {
    const prepared = prepareCommit(exe, effects);
    checkVersionIsOurs(exe);
    // Only now is it true; after any failure the version is what it was.
    const done = (): void => {
      exe.version = prepared.exe.expected + 1;
    };
    const change: Change = { kinds: kindsOf(prepared), executionIds: [prepared.exe.id] };
    return writing(change, (core) => core.commit(prepared), done);
  },
  appendTrace(id: string, entry: JsonObject): Work<void> {
    checkId("appendTrace", id, ["id"]);
    const text = encodeTrace(entry, "appendTrace", ["entry"]);
    return writing({ kinds: ["trace"], executionIds: [id] }, (core) => core.appendTrace(id, text));
  },
  readTrace(id: string): Work<TraceEntry[]> {
    checkId("readTrace", id, ["id"]);
    return reading((core) => core.readTrace(id));
  },
  listExecutions(options?: ListOptions): Work<Page> {
    const listing = planListing(options);
    return reading((core) => core.listExecutions(listing));
  },
  isProcessed(id: string, eventId: string): Work<boolean> {
    checkId("isProcessed", id, ["id"]);
    checkId("isProcessed", eventId, ["eventId"]);
    return reading((core) => core.isProcessed(id, eventId));
  },
  pendingOutbox(options?: LimitOptions): Work<OutboxRow[]> {
    const limit = optionalLimit(options);
    return reading((core) => core.pendingOutbox(limit));
  },
  ackOutbox(seq: number): Work<void> {
    checkSeq(seq);
    return writing({ kinds: ["outbox"], executionIds: null }, (core) => core.ackOutbox(seq));
  },
  pendingSpawns(options?: LimitOptions): Work<SpawnRow[]> {
    const limit = optionalLimit(options);
    return reading((core) => core.pendingSpawns(limit));
  },
  ackSpawn(seq: number): Work<void> {
    checkSeq(seq);
    return writing({ kinds: ["spawns"], executionIds: null }, (core) => core.ackSpawn(seq));
  },
  dueTimers(now: number): Work<Timer[]> {
    if (now !== Infinity) checkInstant("dueTimers", now, ["now"]);
    return reading((core) => core.dueTimers(now));
  },
  deleteTimer(id: string, path: string, fireAt: number): Work<void> {
    checkId("deleteTimer", id, ["id"]);
    checkId("deleteTimer", path, ["path"]);
    checkInstant("deleteTimer", fireAt, ["fireAt"]);
    return writing({ kinds: ["timers"], executionIds: [id] }, (core) => core.deleteTimer(id, path, fireAt));
  },
  exportDatabase(): Work<Uint8Array> {
    return { writes: false, alone: true, change: null, run: (session) => session.exportDatabase(), done: () => {} };
  },
  verify(options?: LimitOptions): Work<Problem[]> {
    const limit = optionalLimit(options) ?? DEFAULT_PROBLEMS;
    return {
      writes: false,
      alone: true,
      inspect: (own, found) => [...found, ...own].slice(0, limit),
      change: null,
      run: (session) => session.verify(limit),
      done: () => {},
    };
  },
};
