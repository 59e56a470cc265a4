// The public names. What a plain string opens is decided by the entry of the platform (adapters/node.ts, browser.ts).
export { AsyncSqliteStore } from "./store/async-sqlite-store.ts";
export { SqliteStore } from "./store/sqlite-store.ts";
export type { EndSignal, Listener, StoreChange, SubscribeOptions } from "./store/subscribers.ts";
export type { StoreOptions } from "./store/options.ts";
export type { LimitOptions } from "./store/arguments.ts";
export type { ListOptions, Page } from "./store/listing.ts";
export type { Effects } from "./store/prepared.ts";
export { salvage } from "./salvage/salvage.ts";
export type { Lost, SalvageReport } from "./salvage/report.ts";
export type { DatabaseBytes } from "./store/locations.ts";
export { newEvent, newExecution } from "./records/codec.ts";
export type { Json, JsonObject } from "./records/json.ts";
export { STATUSES } from "./records/structs.ts";
export type {
  Child,
  Emit,
  Event,
  EventInput,
  Execution,
  ExecutionInput,
  ExecutionSummary,
  OutboxRow,
  Spawn,
  SpawnRow,
  Status,
  Timer,
  TimerOp,
  TraceEntry,
} from "./records/structs.ts";
export {
  EngineFailed,
  Fenced,
  FlushFailed,
  ImageCorrupt,
  PerdureError,
  RecordInvalid,
  SqlFailed,
  StorageRefused,
  StoreBusy,
  StoreClosed,
  StoreConflict,
} from "./errors.ts";
export type { DamageSite, ErrorCode, RefusalCode } from "./errors.ts";
export type {
  AsyncAdapter,
  Change,
  LoadedImage,
  News,
  PageDelta,
  Pages,
  Position,
  Problem,
  Remains,
  RowKind,
  Supports,
  SyncAdapter,
} from "./port.ts";
