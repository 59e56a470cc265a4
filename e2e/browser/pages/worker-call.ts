// What a window and its dedicated worker say to each other: calls of the lab's functions. Types alone.
import type { Lab } from "./lab.ts";

/** The functions that a worker can be asked for. */
type Callable = "scenario" | "audit" | "commitForever" | "commitTimes" | "takeOver" | "commitUntilLost" | "lostOf";

export interface WorkerCall {
  readonly call: number;
  readonly name: Callable;
  readonly args: readonly unknown[];
}

export interface WorkerAnswer {
  readonly call: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** The lab's own types, called in a worker. */
export type InWorker = <N extends Callable>(name: N, ...args: Parameters<Lab[N]>) => ReturnType<Lab[N]>;
