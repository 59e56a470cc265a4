// Records the scenarios work with, and a look at everything a store shows.
import { newExecution } from "../records/codec.ts";
import type { JsonObject } from "../records/json.ts";
import type { Execution, ExecutionInput, Timer } from "../records/structs.ts";
import type { Effects } from "../store/prepared.ts";
import type { Store } from "./stage.ts";

/** An order; small, and different from the next one. */
export function order(id: string, more: Partial<ExecutionInput> = {}): Execution {
  return newExecution({ definition_id: "order", ...more, id });
}

/** Keys that the types do not know, as other programs write them. */
export function withKeys<T extends object>(record: T, json: string): T {
  const keys = JSON.parse(json) as object;
  const copy: T = { ...record };
  for (const [key, value] of Object.entries(keys)) {
    Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

/** One of each thing a commit can do, told apart by a tag. */
export function everything(tag: string): Required<Effects> {
  return {
    emits: [{ target_id: `to-${tag}`, event: { id: `event-${tag}`, kind: "Emitted", data: { tag } } }],
    processedEventId: `handled-${tag}`,
    spawns: [{ child_id: `child-${tag}`, root_path: "Fork", context: { tag } }],
    timers: [{ op: "schedule", path: `Wait.${tag}`, fire_at: 12.5 }],
    trace: { tag },
  };
}

/** All that reads show. */
export interface Observed {
  executions: (Execution | null)[];
  summaries: unknown[];
  traces: JsonObject[][];
  outbox: unknown[];
  spawns: unknown[];
  timers: Timer[];
}

/** Reads all there is, of the Executions stored and of the ids named. */
export async function observe(store: Store, alsoIds: readonly string[] = []): Promise<Observed> {
  const { items } = await store.listExecutions({ limit: 10_000 });
  const ids = [...new Set([...items.map(({ id }) => id), ...alsoIds])].sort();
  const seen: Observed = { executions: [], summaries: items, traces: [], outbox: [], spawns: [], timers: [] };
  for (const id of ids) {
    seen.executions.push(await store.load(id));
    seen.traces.push(await store.readTrace(id));
  }
  seen.outbox = await store.pendingOutbox();
  seen.spawns = await store.pendingSpawns();
  seen.timers = await store.dueTimers(Number.MAX_VALUE);
  return seen;
}

/** 0, 1, … `count` of them. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** What became of promises: true for each that was kept. */
export const kept = async (promises: readonly unknown[]): Promise<boolean[]> =>
  (await Promise.allSettled(promises)).map(({ status }) => status === "fulfilled");
