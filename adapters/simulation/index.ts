// For tests of apps that keep their state in perdure, and of adapters: a disk that crashes, and an adapter that fails.
export { crashEverywhere } from "./crash-everywhere.ts";
export type {
  Crash,
  CrashOptions,
  CrashReport,
  InvariantContext,
  ScenarioContext,
  StoreClass,
  Violation,
} from "./crash-options.ts";
export type { CrashMode } from "./aftermath.ts";
export type { DiskEntry, DiskImage } from "./disk-image.ts";
export {
  type DiskCall,
  type DiskCallKind,
  type DiskFault,
  SimulatedDisk,
  type SimulatedDiskOptions,
} from "./simulated-disk.ts";
export { openSimulated, openSimulatedAsync, simulatedDirectory, type SimulatedOptions } from "./simulated-place.ts";
export { faultyAdapter } from "./faulty-adapter.ts";
export { type FailingCall, Faults, type Gate } from "../../src/contract/faults.ts";
