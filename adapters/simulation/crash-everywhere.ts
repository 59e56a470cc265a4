// "Crash my app at every point of this scenario and check my invariant." A scenario runs once on a simulated disk that
// remembers all that was done to it; then, for every moment of that run, the disk is had as a crash would have left it
// then, a store is opened on it, and the invariant is asked. The openings are crashed in turn. Last, the scenario runs
// again and again with one call to the disk failing. The same seed does the same.
import { PerdureError, RecordInvalid } from "../../src/errors.ts";
import type { SyncAdapter } from "../../src/port.ts";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import type { CrashMode } from "./aftermath.ts";
import {
  checkCrashOptions,
  type Crash,
  type CrashOptions,
  type CrashReport,
  type Store,
  type StoreClass,
  type Violation,
} from "./crash-options.ts";
import { type Moment, momentsOf, plainName } from "./moments.ts";
import { randomFrom, whole } from "./random.ts";
import { type DiskCall, type DiskFault, SimulatedDisk, systemError } from "./simulated-disk.ts";
import { openSimulated, openSimulatedAsync } from "./simulated-place.ts";

const NAME = "store.db";
/** Enough to know that something is wrong. */
const MOST_VIOLATIONS = 20;
/** A full disk takes so many whole blocks of a write. */
const BLOCK_BYTES = 512;
/** What fails, and for how many calls. */
const ERRORS: readonly { readonly name: string; readonly calls: number; fault(bytes: number): DiskFault }[] = [
  { name: "EIO", calls: 1, fault: () => ({ error: "EIO" }) },
  {
    name: "ENOSPC",
    calls: 1,
    fault: (bytes) => ({ error: "ENOSPC", short: Math.floor(bytes / 2 / BLOCK_BYTES) * BLOCK_BYTES }),
  },
  { name: "EIO x3", calls: 3, fault: () => ({ error: "EIO" }) },
];

/**
 * Crashes a scenario everywhere. Stops at 20 violations.
 *
 * @throws RecordInvalid for options that are not known, or not as they must be, and an `only` that nothing is called
 * @example
 * ```ts
 * const report = await crashEverywhere({
 *   async scenario({ open, acknowledged }) {
 *     const store = await open();
 *     const order = newExecution({ definition_id: "order" });
 *     await store.commit(order, { emits: [{ event: newEvent({ kind: "Paid" }) }] });
 *     acknowledged(order.id);
 *   },
 *   async invariant({ store, acknowledged }) {
 *     for (const id of acknowledged) if ((await store.load(id)) === null) throw new Error(`${id} is gone`);
 *   },
 * });
 * ```
 */
export async function crashEverywhere<S extends Store = AsyncSqliteStore, Fact = unknown>(
  options: CrashOptions<S, Fact>,
  ...more: readonly never[]
): Promise<CrashReport> {
  checkCrashOptions(options);
  // Passed over in silence, a test would look like a proof of what it never tried.
  if (more.length > 0) throw new RecordInvalid("crashEverywhere", [], "takes one argument: its options go into that");
  return new Exploration(options).run();
}

/** A run of the scenario. */
interface Run<Fact> {
  readonly disk: SimulatedDisk;
  /** Each with how many entries the disk had when it was said. */
  readonly facts: readonly { readonly fact: Fact; readonly index: number }[];
}

class Exploration<S extends Store, Fact> {
  readonly #options: CrashOptions<S, Fact>;
  readonly #Store: StoreClass<S>;
  readonly #seed: number;
  readonly #only: string;
  readonly #counts: Map<string, number> = new Map();
  readonly #violations: Violation[] = [];
  #points = 0;
  #crashes = 0;

  constructor(options: CrashOptions<S, Fact>) {
    this.#options = options;
    this.#Store = options.Store ?? (AsyncSqliteStore as unknown as StoreClass<S>);
    this.#seed = options.seed ?? 0;
    this.#only = options.only ?? "";
  }

  async run(): Promise<CrashReport> {
    const run = await this.#runScenario(null);
    const { calls } = run.disk;
    const errors = this.#modes.includes("error") ? ERRORS : [];
    // Each moment is a store to open, and so is each crash of that; an error ends in two ways.
    const most =
      countOf(this.#momentsOf(run, this.#crashModes, 0)) * (1 + this.#again) +
      calls * errors.length * (2 + this.#again);
    const share = (this.#options.limit ?? Infinity) / most;
    const random = randomFrom(this.#seed, "share");
    for (const moment of this.#momentsOf(run, this.#crashModes, 0)) {
      if (random() >= share || this.#isEnough()) continue;
      this.#points++;
      await this.#crash(run, moment, "", this.#again);
    }
    for (let call = 0; call < calls; call++) {
      for (const error of errors) if (random() < share && !this.#isEnough()) await this.#fail(call, error);
    }
    if (this.#only !== "" && this.#crashes === 0) {
      throw new RecordInvalid(
        "crashEverywhere",
        ["only"],
        "no crash of this scenario, seed and options is called that",
      );
    }
    return { points: this.#points, crashes: this.#crashes, counts: this.#counts, violations: this.#violations };
  }

  get #again(): number {
    return this.#options.again ?? 1;
  }

  get #modes(): readonly (CrashMode | "error")[] {
    return this.#options.modes ?? ["kill", "lost", "torn", "error"];
  }

  get #crashModes(): readonly CrashMode[] {
    return this.#modes.filter((mode) => mode !== "error");
  }

  /** Opens a store on what is left and asks the invariant; then crashes that in turn. */
  async #crash({ facts }: Run<Fact>, moment: Moment, before: string, again: number): Promise<void> {
    const reproduction = `${before}${moment.mode} ${moment.index}.${moment.variant}`;
    if (!this.#isWanted(reproduction)) return;
    this.#count(moment.mode, moment.boundary);
    const known = facts.filter(({ index }) => index <= moment.index);
    const disk = new SimulatedDisk({ image: moment.image(), seed: this.#seed });
    await this.#judge(disk, crashOf(moment.mode, reproduction), known);
    // Whatever was acknowledged before counts from its beginning.
    const run = { disk, facts: known.map(({ fact }) => ({ fact, index: 0 })) };
    await this.#crashSome(run, `${reproduction} then `, again, 0);
  }

  /** Some moments of a run, by chance. */
  async #crashSome(run: Run<Fact>, before: string, count: number, from: number): Promise<void> {
    if (count === 0) return;
    const modes = this.#crashModes;
    const moments = countOf(this.#momentsOf(run, modes, from));
    const random = randomFrom(this.#seed, before);
    const chosen = new Set(Array.from({ length: count }, () => whole(random, moments)));
    let nth = 0;
    for (const moment of this.#momentsOf(run, modes, from)) {
      if (this.#only !== "" || chosen.has(nth++)) await this.#crash(run, moment, before, 0);
    }
  }

  /** The scenario, with some calls that fail. */
  async #fail(call: number, { name, calls, fault }: (typeof ERRORS)[number]): Promise<void> {
    const reproduction = `error ${call} ${name}`;
    if (!this.#isWanted(reproduction)) return;
    let boundary = "never reached";
    let from = 0;
    const run = await this.#violating(reproduction, () =>
      this.#runScenario((disk, { number, kind, name: file, bytes }) => {
        if (kind === "read" || number < call || number >= call + calls) return;
        if (number === call) {
          boundary = `${kind} ${plainName(file)}`;
          from = disk.entries.length;
        }
        return fault(bytes);
      }),
    );
    this.#points++;
    this.#count("error", boundary);
    if (run === null) return;
    for (const mode of ["kill", "lost"] as const) {
      const crash = crashOf("error", `${reproduction} then ${mode}`);
      if (this.#isWanted(crash.reproduction)) await this.#judge(run.disk.crash(mode), crash, run.facts);
    }
    await this.#crashSome(run, `${reproduction} then `, this.#again, from);
  }

  /** Opens a store and asks the invariant. */
  async #judge(disk: SimulatedDisk, crash: Crash, facts: Run<Fact>["facts"]): Promise<void> {
    this.#crashes++;
    await this.#violating(crash.reproduction, async () => {
      const store = await this.#open(disk);
      try {
        await this.#options.invariant({ store, acknowledged: facts.map(({ fact }) => fact), crash, disk });
      } finally {
        await store.close();
      }
    });
  }

  async #runScenario(before: ((disk: SimulatedDisk, call: DiskCall) => DiskFault | void) | null): Promise<Run<Fact>> {
    const disk: SimulatedDisk = new SimulatedDisk({ seed: this.#seed, before: (call) => before?.(disk, call) });
    const facts: { fact: Fact; index: number }[] = [];
    const stores: S[] = [];
    try {
      await this.#options.scenario({
        disk,
        open: async () => {
          const store = await this.#open(disk);
          stores.push(store);
          return store;
        },
        acknowledged: (fact) => void facts.push({ fact, index: disk.entries.length }),
      });
    } catch (error) {
      // An app that stops when a commit is refused is as good as one that goes on.
      if (before === null || !(error instanceof PerdureError)) throw error;
    } finally {
      // The process ends here: what closing would do is no part of the run.
      disk.before = ({ name }) => {
        throw systemError("EIO", name);
      };
      await Promise.allSettled(stores.map(async (store) => store.close()));
    }
    return { disk, facts };
  }

  async #open(disk: SimulatedDisk): Promise<S> {
    const { place, options = {}, storeOptions = {} } = this.#options;
    const isAsync = (this.#Store as unknown) === AsyncSqliteStore;
    const open = place ?? ((on) => (isAsync ? openSimulatedAsync : openSimulated)(on, NAME, options));
    // A class takes what suits it, and says so when it does not.
    return this.#Store.create((await open(disk)) as SyncAdapter, storeOptions);
  }

  #momentsOf({ disk, facts }: Run<Fact>, modes: readonly CrashMode[], from: number): Generator<Moment, void, void> {
    const marks = new Set(facts.map(({ index }) => index));
    return momentsOf(disk, { modes, seed: this.#seed, variants: this.#options.variants ?? 2, from, marks });
  }

  async #violating<T>(reproduction: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.#violations.push({ reproduction, error });
      return null;
    }
  }

  #count(mode: string, boundary: string): void {
    const key = `${mode} at ${boundary}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** On the way to `only`, or beyond it. */
  #isWanted(reproduction: string): boolean {
    return reproduction.startsWith(this.#only) || this.#only.startsWith(`${reproduction} `);
  }

  #isEnough(): boolean {
    return this.#violations.length >= MOST_VIOLATIONS;
  }
}

const crashOf = (mode: Crash["mode"], reproduction: string): Crash => ({
  ...{ mode, reproduction, isPowerCut: /lost|torn/.test(reproduction) },
});

function countOf(all: Iterable<unknown>): number {
  let count = 0;
  for (const _ of all) count++;
  return count;
}
