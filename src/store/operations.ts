// The operations as both shells offer them: arguments checked at the call, before anything waits, and made into work on
// the core. A shell adds only when and how the work runs: now, or in its turn.
import { RecordInvalid } from "../errors.ts";
import { checkId, checkInstant, encodeTrace } from "../records/codec.ts";
import type { JsonObject } from "../records/json.ts";
import type { Execution, OutboxRow, SpawnRow, Timer, TraceEntry } from "../records/structs.ts";
import { checkSeq, type LimitOptions, optionalLimit } from "./arguments.ts";
import type { Core } from "./core.ts";
import { type ListOptions, type Page, planListing } from "./listing.ts";
import { type Effects, prepareCommit } from "./prepared.ts";
import type { Session } from "./session.ts";

/** Work on a session: a read, or a write that needs the lease and a flush. */
export interface Work<T> {
  readonly writes: boolean;
  run(session: Session): T;
  /** What is left to do once the work is durable. */
  done(): void;
}

const reading = <T>(run: (core: Core) => T): Work<T> => ({
  writes: false,
  run: ({ core }) => run(core),
  done: () => {},
});
const writing = (run: (core: Core) => void, done: () => void = () => {}): Work<void> => ({
  writes: true,
  run: ({ core }) => run(core),
  done,
});

/** The first work of a store on a new place, or on one from before our indexes. */
export const createSchema: Work<void> = { writes: true, run: (session) => session.createSchema(), done: () => {} };

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
    return writing((core) => core.commit(prepared), done);
  },
  appendTrace(id: string, entry: JsonObject): Work<void> {
    checkId("appendTrace", id, ["id"]);
    const text = encodeTrace(entry, "appendTrace", ["entry"]);
    return writing((core) => core.appendTrace(id, text));
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
    return writing((core) => core.ackOutbox(seq));
  },
  pendingSpawns(options?: LimitOptions): Work<SpawnRow[]> {
    const limit = optionalLimit(options);
    return reading((core) => core.pendingSpawns(limit));
  },
  ackSpawn(seq: number): Work<void> {
    checkSeq(seq);
    return writing((core) => core.ackSpawn(seq));
  },
  dueTimers(now: number): Work<Timer[]> {
    if (now !== Infinity) checkInstant("dueTimers", now, ["now"]);
    return reading((core) => core.dueTimers(now));
  },
  deleteTimer(id: string, path: string, fireAt: number): Work<void> {
    checkId("deleteTimer", id, ["id"]);
    checkId("deleteTimer", path, ["path"]);
    checkInstant("deleteTimer", fireAt, ["fireAt"]);
    return writing((core) => core.deleteTimer(id, path, fireAt));
  },
};
