// Where one scenario plays: a fresh place, stores over it in the ways a scenario may ask for, and the cleaning up.
import type { AsyncAdapter, SyncAdapter } from "../port.ts";
import { AsyncSqliteStore } from "../store/async-sqlite-store.ts";
import type { StoreOptions } from "../store/options.ts";
import { SqliteStore } from "../store/sqlite-store.ts";
import { Faults, withFaults, withFaultsAsync } from "./faults.ts";
import { SharedPlace } from "./shared-place.ts";
import type { AsyncTarget, Place, SyncTarget, Target } from "./target.ts";

/** Either store. The suite awaits whatever it returns. */
export type Store = SqliteStore | AsyncSqliteStore;

/** One place with several writers. */
export interface Shared<S extends Store = Store> {
  readonly place: SharedPlace;
  open(options?: StoreOptions): Promise<S>;
}

/** Where one scenario plays. */
export interface Stage<S extends Store = Store> {
  readonly target: Target;
  readonly place: Place<SyncAdapter | AsyncAdapter>;
  /** Counts and faults of what `openFaulty` and `share` open. */
  readonly faults: Faults;
  /** A store right on the adapter. */
  open(options?: StoreOptions): Promise<S>;
  /** A store over `faults` over the adapter. */
  openFaulty(options?: StoreOptions): Promise<S>;
  /** Several stores and raw SQL over `faults` over one adapter. */
  share(): Promise<Shared<S>>;
}

/** How one kind of store is made on one kind of adapter. */
interface Making<S extends Store, Adapter extends SyncAdapter | AsyncAdapter> {
  create(adapter: Adapter, options?: StoreOptions): Promise<S>;
  withFaults(adapter: Adapter, faults: Faults): Adapter;
  port(place: SharedPlace): Adapter;
}

const SYNC: Making<SqliteStore, SyncAdapter> = {
  create: (adapter, options) => SqliteStore.create(adapter, options),
  withFaults,
  port: (place) => place.syncPort(),
};

const ASYNC: Making<AsyncSqliteStore, SyncAdapter | AsyncAdapter> = {
  create: (adapter, options) => AsyncSqliteStore.create(adapter, options),
  withFaults: withFaultsAsync,
  port: (place) => place.asyncPort(),
};

/** Plays a scenario on either store and cleans up after it, whatever happened. */
export function play(target: Target, run: (stage: Stage) => Promise<void>): Promise<void> {
  return target.store === "SqliteStore" ? perform(target, target.newPlace, SYNC, run) : playAsync(target, run);
}

/** The same, for scenarios that only an asynchronous store can play. */
export function playAsync(target: AsyncTarget, run: (stage: Stage<AsyncSqliteStore>) => Promise<void>): Promise<void> {
  return perform(target, target.newPlace, ASYNC, run);
}

async function perform<S extends Store, Adapter extends SyncAdapter | AsyncAdapter>(
  target: SyncTarget | AsyncTarget,
  newPlace: () => Promise<Place<Adapter>>,
  { create, withFaults: wrap, port }: Making<S, Adapter>,
  run: (stage: Stage<S>) => Promise<void>,
): Promise<void> {
  const place = await newPlace();
  const faults = new Faults();
  const stores: S[] = [];
  const shared: SharedPlace[] = [];
  const open = async (adapter: Adapter, options?: StoreOptions): Promise<S> => {
    const store = await create(adapter, options);
    stores.push(store);
    return store;
  };
  try {
    await run({
      target,
      place,
      faults,
      open: async (options) => open(await place.adapter(), options),
      openFaulty: async (options) => open(wrap(await place.adapter(), faults), options),
      async share() {
        const one = await SharedPlace.on(wrap(await place.adapter(), faults));
        shared.push(one);
        return { place: one, open: (options) => open(port(one), options) };
      },
    });
  } finally {
    // A scenario that failed may have left a flush waiting; no store could be closed then.
    faults.clear();
    for (const store of stores) await store.close();
    for (const one of shared) await one.close();
    await place.dispose();
  }
}
