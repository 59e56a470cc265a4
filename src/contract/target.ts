// What the suite is given: a test runner, a target to prove, and golden databases.
import type { AsyncAdapter, Supports, SyncAdapter } from "../port.ts";
import type { GoldenDatabase } from "./golden.ts";

/** The part of a test runner that the suite uses: vitest, node:test and bun:test have it. */
export interface Runner {
  describe(name: string, define: () => void): unknown;
  test: {
    (name: string, run: () => Promise<void>): unknown;
    /** What `supports` rules out is reported as skipped, never left out. */
    skip(name: string, run: () => Promise<void>): unknown;
  };
}

/** A fresh place, for one scenario. */
export interface Place<Adapter> {
  /** Another adapter on this place, or the promise of one. Each serves one store. */
  adapter(): Adapter | Promise<Adapter>;
  /** Lays database files there, before the first adapter. Durable places have it. */
  putFiles?(files: { readonly database: Uint8Array; readonly wal: Uint8Array | null }): Promise<void>;
  /** Takes the place away, after every store was closed. */
  dispose(): Promise<void>;
}

interface TargetOf<Store, Adapter> {
  /** For the report, for example "SqliteStore on file". */
  readonly name: string;
  readonly store: Store;
  /** The adapter's own. Skips come from here and from nothing else. */
  readonly supports: Supports;
  newPlace(): Promise<Place<Adapter>>;
}

export type SyncTarget = TargetOf<"SqliteStore", SyncAdapter>;
export type AsyncTarget = TargetOf<"AsyncSqliteStore", SyncAdapter | AsyncAdapter>;

/** A store on a kind of place. */
export type Target = SyncTarget | AsyncTarget;

/** What the suite cannot carry itself. */
export interface ContractData {
  /** Databases the original wrote; without them there are no golden scenarios. */
  readonly golden?: readonly GoldenDatabase[];
}
