// What a crash test is told, what its parts are given, and what it reports. Types alone.
import { checkOptions, type OptionCheck, type OptionChecks } from "../../src/check.ts";
import { RecordInvalid } from "../../src/errors.ts";
import type { AsyncAdapter, SyncAdapter } from "../../src/port.ts";
import type { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import type { StoreOptions } from "../../src/store/options.ts";
import type { SqliteStore } from "../../src/store/sqlite-store.ts";
import type { CrashMode } from "./aftermath.ts";
import type { SimulatedDisk } from "./simulated-disk.ts";
import type { SimulatedOptions } from "./simulated-place.ts";

/** Either store. */
export type Store = SqliteStore | AsyncSqliteStore;

/** How stores of a class are made: `SqliteStore` and `AsyncSqliteStore` are such. */
export interface StoreClass<S extends Store> {
  create(adapter: SyncAdapter, options?: StoreOptions): Promise<S>;
}

/** What a scenario is given. */
export interface ScenarioContext<S extends Store, Fact> {
  readonly disk: SimulatedDisk;
  /** Opens the store; again after it was closed. */
  open(): Promise<S>;
  /** Says that from now on no crash may undo this: call it when a commit has returned. Facts are kept in their order. */
  acknowledged(fact: Fact): void;
}

/** How a run was cut short. */
export interface Crash {
  readonly mode: CrashMode | "error";
  /** Whether the power went: what was not synced may be gone. */
  readonly isPowerCut: boolean;
  /** Give it as `only`, with the same seed, to see this one again. */
  readonly reproduction: string;
}

/** What an invariant is given: a store on what the crash left, and what it may not have taken. */
export interface InvariantContext<S extends Store, Fact> {
  readonly store: S;
  readonly acknowledged: readonly Fact[];
  readonly crash: Crash;
  /** What the crash left, and what opening it has done to it since. */
  readonly disk: SimulatedDisk;
}

export interface CrashOptions<S extends Store, Fact> {
  /** Opens, does what the app does, and says what was acknowledged. After a fault it may go on, or let the error pass. */
  readonly scenario: (context: ScenarioContext<S, Fact>) => Promise<void>;
  /** Throws when something is wrong. It runs again on disks that an earlier run of it was cut short on. */
  readonly invariant: (context: InvariantContext<S, Fact>) => Promise<void> | void;
  /** Default: `AsyncSqliteStore`. */
  readonly Store?: StoreClass<S>;
  /** Default: all four. */
  readonly modes?: readonly (CrashMode | "error")[];
  readonly seed?: number;
  /** Crashes at the most; when there could be more, they are spread over the scenario. Default: no limit. */
  readonly limit?: number;
  /** For each moment: how many disks are made up where chance decides. Default 2. */
  readonly variants?: number;
  /** For each opening: how many times it is crashed in turn. Default 1. */
  readonly again?: number;
  /** What stores are told. */
  readonly storeOptions?: StoreOptions;
  /** How the place is opened. A log that is moved into the file often has more moments of that kind. */
  readonly options?: SimulatedOptions;
  /** Where stores are, when it is not `perdure/testing`'s own place on the disk. */
  readonly place?: (disk: SimulatedDisk) => SyncAdapter | AsyncAdapter | Promise<SyncAdapter | AsyncAdapter>;
  /** Only crashes whose reproduction begins with this. */
  readonly only?: string;
}

export interface Violation {
  readonly reproduction: string;
  readonly error: unknown;
}

export interface CrashReport {
  /** Moments, ways to crash and calls that failed that were tried. */
  readonly points: number;
  /** Stores opened on what a crash left, those after a second crash too. */
  readonly crashes: number;
  /** How many crashes there were in each mode at each boundary. */
  readonly counts: ReadonlyMap<string, number>;
  readonly violations: readonly Violation[];
}

const isFunction: OptionCheck = { is: (value) => typeof value === "function", expected: "a function" };
const isRecord: OptionCheck = { is: (value) => typeof value === "object" && value !== null, expected: "an object" };
const atLeast = (least: number): OptionCheck => ({
  is: (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= least),
  expected: `a whole number, ${least} or more`,
});

const MODES: readonly unknown[] = ["kill", "lost", "torn", "error"];

const CHECKS: OptionChecks = {
  scenario: isFunction,
  invariant: isFunction,
  Store: isFunction,
  place: isFunction,
  options: isRecord,
  storeOptions: isRecord,
  seed: { is: Number.isSafeInteger, expected: "a whole number" },
  modes: {
    is: (value) => Array.isArray(value) && value.length > 0 && value.every((mode) => MODES.includes(mode)),
    expected: `some of ${MODES.join(", ")}`,
  },
  limit: atLeast(1),
  variants: atLeast(1),
  again: atLeast(0),
  only: { is: (value) => typeof value === "string", expected: "a reproduction" },
};

/** Throws `RecordInvalid`: a kit that is told nonsense and crashes nothing would look like a proof. */
export function checkCrashOptions(options: unknown): void {
  checkOptions("crashEverywhere", options, CHECKS);
  for (const name of ["scenario", "invariant"] as const) {
    const isGiven = isFunction.is((options as Record<string, unknown>)[name]);
    if (!isGiven) throw new RecordInvalid("crashEverywhere", [name], `expected ${isFunction.expected}`);
  }
}
