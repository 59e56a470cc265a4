// What a store should be, as simple as it can be told: plain Maps and arrays. Property tests hold the stores against it.
import type { JsonObject } from "../records/json.ts";
import type { Event, Execution } from "../records/structs.ts";
import type { Observed } from "../contract/samples.ts";

/** A write, as data. Everything it needs is in it, so that it means the same whenever it runs. */
export type Write =
  | { readonly op: "commit"; readonly exe: Execution; readonly effects: ModelEffects }
  | { readonly op: "appendTrace"; readonly id: string; readonly entry: JsonObject }
  | { readonly op: "ackOutbox" | "ackSpawn"; readonly seq: number }
  | { readonly op: "deleteTimer"; readonly id: string; readonly path: string; readonly fireAt: number }
  /** Refused before it is written. */
  | { readonly op: "bad"; readonly id: string };

/** Effects with nothing left to defaults. */
export interface ModelEffects {
  readonly emits: readonly { target_id: string | null; event: Event }[];
  readonly processedEventId: string | null;
  readonly spawns: readonly { child_id: string; root_path: string; context: JsonObject }[];
  readonly timers: readonly ({ op: "schedule"; path: string; fire_at: number } | { op: "cancel"; path: string })[];
  readonly trace: JsonObject | null;
}

export class Model {
  readonly executions: Map<string, Execution> = new Map();
  readonly markers: Set<string> = new Set();
  outbox: { seq: number; target_id: string | null; event: Event }[] = [];
  spawns: { seq: number; parent_id: string; child_id: string; root_path: string; context: JsonObject }[] = [];
  /** In the order they were first set. */
  readonly timers: Map<string, { execution_id: string; path: string; fire_at: number }> = new Map();
  readonly traces: Map<string, JsonObject[]> = new Map();
  readonly traceMax: number;
  #lastEmit = 0;
  #lastSpawn = 0;

  constructor(traceMax: number) {
    this.traceMax = traceMax;
  }

  version(id: string): number {
    return this.executions.get(id)?.version ?? 0;
  }

  /** Does a write, or tells why it changes nothing. */
  apply(write: Write): "done" | "conflict" | "invalid" {
    switch (write.op) {
      case "commit":
        if (write.exe.version !== this.version(write.exe.id)) return "conflict";
        this.#commit(write.exe, write.effects);
        return "done";
      case "appendTrace":
        this.#trace(write.id, write.entry);
        return "done";
      case "ackOutbox":
        this.outbox = this.outbox.filter(({ seq }) => seq !== write.seq);
        return "done";
      case "ackSpawn":
        this.spawns = this.spawns.filter(({ seq }) => seq !== write.seq);
        return "done";
      case "deleteTimer": {
        const key = timerKey(write.id, write.path);
        if (this.timers.get(key)?.fire_at === write.fireAt) this.timers.delete(key);
        return "done";
      }
      case "bad":
        return "invalid";
    }
  }

  /** What reads should show, with the traces of all `ids`. */
  observe(ids: readonly string[]): Observed {
    const stored = [...this.executions.keys()].sort();
    const all = [...new Set([...stored, ...ids])].sort();
    return {
      executions: all.map((id) => this.executions.get(id) ?? null),
      summaries: stored.map((id) => {
        const { definition_id, status, outcome, active_path, version, parent_id } = this.executions.get(id)!;
        return { id, definition_id, status, outcome, active_path, version, parent_id };
      }),
      traces: all.map((id) => this.traces.get(id) ?? []),
      outbox: this.outbox,
      spawns: this.spawns,
      timers: [...this.timers.values()].sort((a, b) => a.fire_at - b.fire_at),
    };
  }

  #commit(exe: Execution, { emits, processedEventId, spawns, timers, trace }: ModelEffects): void {
    this.executions.set(exe.id, { ...exe, version: exe.version + 1 });
    for (const emit of emits) this.outbox.push({ seq: ++this.#lastEmit, ...emit });
    if (processedEventId !== null) this.markers.add(markerKey(exe.id, processedEventId));
    for (const spawn of spawns) this.spawns.push({ seq: ++this.#lastSpawn, parent_id: exe.id, ...spawn });
    for (const timer of timers) {
      const key = timerKey(exe.id, timer.path);
      if (timer.op === "cancel") this.timers.delete(key);
      else this.timers.set(key, { execution_id: exe.id, path: timer.path, fire_at: timer.fire_at });
    }
    if (trace !== null) this.#trace(exe.id, trace);
  }

  #trace(id: string, entry: JsonObject): void {
    const ring = this.traces.get(id) ?? [];
    const last = ring.at(-1)?.["index"] as number | undefined;
    this.traces.set(id, [...ring, { ...entry, index: (last ?? -1) + 1 }].slice(-this.traceMax));
  }
}

export const markerKey = (id: string, eventId: string): string => JSON.stringify([id, eventId]);

function timerKey(id: string, path: string): string {
  return JSON.stringify([id, path]);
}
