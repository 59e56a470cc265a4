// An adapter that fails when it is told to, around any other: for apps that want to see what they do then.
import { type Faults, withFaults, withFaultsAsync } from "../../src/contract/faults.ts";
import type { AsyncAdapter, SyncAdapter } from "../../src/port.ts";

/**
 * `inner`, but for what `faults` says.
 *
 * @example
 * ```ts
 * const faults = new Faults();
 * const store = await SqliteStore.create(faultyAdapter(memoryAdapter(), faults));
 * faults.failing.append.push(new FlushFailed("orders", new Error("disk on fire")));
 * ```
 */
export function faultyAdapter(inner: SyncAdapter, faults: Faults): SyncAdapter;
export function faultyAdapter(inner: AsyncAdapter, faults: Faults): AsyncAdapter;
export function faultyAdapter(inner: SyncAdapter | AsyncAdapter, faults: Faults): SyncAdapter | AsyncAdapter {
  return inner.synchronous ? withFaults(inner, faults) : withFaultsAsync(inner, faults);
}
