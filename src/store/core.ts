// Every operation, once: synchronous, on one Database, inside a transaction the shell opened. Takes checked arguments
// (prepared.ts, listing.ts) and knows nothing of leases, flushes or promises.
import type { Database } from "../engine/database.ts";
import type { Row, Value } from "../engine/row.ts";
import type { Statement } from "../engine/statement.ts";
import { SqlFailed, StoreConflict } from "../errors.ts";
import { decodeEvent, decodeExecution, decodeObject } from "../records/codec.ts";
import type { Execution, OutboxRow, SpawnRow, Timer, TraceEntry } from "../records/structs.ts";
import { STATEMENTS } from "../sql.ts";
import { type Listing, makePage, type Page, readSummary } from "./listing.ts";
import type { PreparedCommit } from "./prepared.ts";

/** What SQLite answers when a row does not hold JSON. */
const SQLITE_ERROR = 1;
const SQLITE_CORRUPT = 11;
/** Listings differ in their filters only; more shapes than these are not kept. */
const MAX_LISTINGS_KEPT = 32;
/** Twice as many are kept at the most. */
const LAST_TRACE_KEPT = 10_000;

export class Core {
  readonly #db: Database;
  readonly #statements: { readonly [name in keyof typeof STATEMENTS]: Statement };
  readonly #listings: Map<string, Statement> = new Map();
  /** Execution id → the index of its last trace step, as this store wrote it. */
  #lastTrace: Map<string, number> = new Map();
  /** Those before: dropped when there are enough newer ones, so that what is used is hardly ever forgotten. */
  #olderLastTrace: Map<string, number> = new Map();
  /** Trace steps kept for each Execution; 0 keeps all. */
  readonly #traceMax: number;

  constructor(db: Database, traceMax: number) {
    this.#db = db;
    this.#traceMax = traceMax;
    const prepared = Object.entries(STATEMENTS).map(([name, sql]) => [name, db.prepare(sql)]);
    this.#statements = Object.fromEntries(prepared) as { [name in keyof typeof STATEMENTS]: Statement };
  }

  /** The database is not as this store left it: others wrote, or what it wrote is undone. */
  forget(): void {
    this.#lastTrace.clear();
    this.#olderLastTrace.clear();
  }

  /** The one write an event makes. Throws `StoreConflict` before anything is changed. */
  commit({ exe, emits, processedEventId, spawns, timers, trace }: PreparedCommit): void {
    const run = this.#statements;
    this.#compareAndSwap(exe);
    for (const { target, event } of emits) run.emit.run([target, event]);
    if (processedEventId !== null) run.mark.run([exe.id, processedEventId]);
    for (const { childId, rootPath, context } of spawns) run.spawn.run([exe.id, childId, rootPath, context]);
    for (const { path, fireAt } of timers) {
      if (fireAt === null) run.cancel.run([exe.id, path]);
      else run.schedule.run([exe.id, path, fireAt]);
    }
    if (trace !== null) this.appendTrace(exe.id, trace);
  }

  appendTrace(id: string, entry: string): void {
    const run = this.#statements;
    const known = this.#lastTrace.get(id) ?? this.#olderLastTrace.get(id);
    const index = (known ?? run.lastTrace.first([id], (row) => row.integer(0)) ?? -1) + 1;
    if (!Number.isSafeInteger(index)) throw new SqlFailed(SQLITE_CORRUPT, "no trace index can follow the last one");
    run.trace.run([id, index, entry]);
    if (this.#lastTrace.size >= LAST_TRACE_KEPT) {
      this.#olderLastTrace = this.#lastTrace;
      this.#lastTrace = new Map();
    }
    this.#lastTrace.set(id, index);
    if (this.#traceMax > 0 && index >= this.#traceMax) run.trimTrace.run([id, index - this.#traceMax]);
  }

  load(id: string): Execution | null {
    const data = this.#statements.load.first([id], (row) => row.text(0));
    return data === null ? null : decodeExecution(id, data);
  }

  loadForEvent(id: string, eventId: string): [Execution | null, boolean] {
    const found = this.#statements.loadForEvent.first([id, id, eventId], (row) => ({
      data: row.text(0),
      processed: row.number(1) === 1,
    }));
    // The Execution is what counts: markers may outlive it.
    if (found === null || found.data === null) return [null, false];
    return [decodeExecution(id, found.data), found.processed];
  }

  isProcessed(id: string, eventId: string): boolean {
    return this.#statements.isProcessed.first([id, eventId], () => true) ?? false;
  }

  readTrace(id: string): TraceEntry[] {
    return this.#statements.readTrace
      .all([id], (row) => ({ index: integerIn(row, 0), entry: textIn(row, 1) }))
      .map(({ index, entry }) => ({ ...decodeObject(`trace ${index} of ${id}`, entry), index }));
  }

  pendingOutbox(limit: number | null): OutboxRow[] {
    return this.#statements.pendingOutbox
      .all([limit ?? -1], (row) => ({ seq: integerIn(row, 0), target_id: row.text(1), event: textIn(row, 2) }))
      .map(({ seq, target_id, event }) => ({ seq, target_id, event: decodeEvent(`outbox ${seq}`, event) }));
  }

  ackOutbox(seq: number): void {
    this.#statements.ackOutbox.run([seq]);
  }

  pendingSpawns(limit: number | null): SpawnRow[] {
    const read = (row: Row) => ({
      seq: integerIn(row, 0),
      parent_id: textIn(row, 1),
      child_id: textIn(row, 2),
      root_path: textIn(row, 3),
      context: textIn(row, 4),
    });
    return this.#statements.pendingSpawns
      .all([limit ?? -1], read)
      .map((spawn) => ({ ...spawn, context: decodeObject(`spawn ${spawn.seq}`, spawn.context) }));
  }

  ackSpawn(seq: number): void {
    this.#statements.ackSpawn.run([seq]);
  }

  dueTimers(now: number): Timer[] {
    return this.#statements.dueTimers.all([now], (row) => ({
      execution_id: textIn(row, 0),
      path: textIn(row, 1),
      fire_at: numberIn(row, 2),
    }));
  }

  deleteTimer(id: string, path: string, fireAt: number): void {
    this.#statements.deleteTimer.run([id, path, fireAt]);
  }

  listExecutions(listing: Listing | null): Page {
    if (listing === null) return { items: [], nextCursor: null };
    const { sql, guardedSql, values, limit } = listing;
    const read = (text: string): Page => makePage(this.#listing(text).all(values, readSummary), limit);
    try {
      return read(sql);
    } catch (error) {
      if (error instanceof SqlFailed && error.resultCode === SQLITE_ERROR) return read(guardedSql);
      throw error;
    }
  }

  #listing(sql: string): Statement {
    const kept = this.#listings.get(sql);
    if (kept !== undefined) return kept;
    const statement = this.#db.prepare(sql);
    this.#listings.set(sql, statement);
    const oldest = this.#listings.keys().next().value;
    if (this.#listings.size > MAX_LISTINGS_KEPT && oldest !== undefined) {
      this.#db.discard(this.#listings.get(oldest)!);
      this.#listings.delete(oldest);
    }
    return statement;
  }

  /** The blob and the column carry the same version. It is the first statement, so a conflict has changed nothing. */
  #compareAndSwap({ id, definitionId, data, expected }: PreparedCommit["exe"]): void {
    const next = expected + 1;
    this.#statements.update.run([data, next, id, expected]);
    if (this.#db.changes() > 0) return;
    const found = this.#statements.version.first([id], (row) => row.number(0));
    if (found !== null || expected !== 0) throw new StoreConflict(id, expected, found);
    this.#statements.insert.run([id, definitionId, data, next] satisfies Value[]);
  }
}

const textIn = (row: Row, column: number): string => row.text(column) ?? missing();
const numberIn = (row: Row, column: number): number => row.number(column) ?? missing();
const integerIn = (row: Row, column: number): number => row.integer(column) ?? missing();

/** The schema does not allow it, but a damaged row holds what it holds, and so may a table that another program made. */
function missing(): never {
  throw new SqlFailed(SQLITE_CORRUPT, "a column that must hold a value has none");
}
