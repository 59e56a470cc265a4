// From events to commits, and from what commits left to do to events. Every event has an id that says what made it, and
// is committed together with that id: however often it comes, from however many tabs, it counts once.
import {
  type AsyncSqliteStore,
  type Event,
  type Execution,
  Fenced,
  newEvent,
  newExecution,
  type OutboxRow,
  type SpawnRow,
  StoreConflict,
  type Timer,
} from "perdure";
import { begin, react, type Step } from "../chart.js";
import { chart, OUTSIDE } from "./order.ts";

/** Seconds since the epoch, as timers have them. */
export const now = (): number => Date.now() / 1000;

/** How often an event is decided anew because somebody else was first, before that is called an error. */
const MAX_TRIES = 50;
/** How many rows a round of the relay takes. */
const ROUND = 256;

/** A row of a trace, as `handle` writes it. */
export interface TracedStep {
  readonly index: number;
  readonly event: { readonly id: string; readonly kind: string; readonly text: string };
  readonly from: string | null;
  readonly to: string | null;
  readonly handled: boolean;
  readonly at: number;
  /** Seconds a timer fired after its time. */
  readonly late: number | null;
  readonly emits: readonly { readonly to: string | null; readonly kind: string }[];
  readonly timers: readonly { readonly op: string; readonly path: string }[];
  readonly spawns: readonly string[];
}

export interface Runtime {
  startOrder(id: string): Promise<void>;
  /** Resolves when the event is durable, or was before. */
  handle(id: string, event: Event): Promise<void>;
  deliver(row: OutboxRow): Promise<void>;
  startChild(row: SpawnRow): Promise<void>;
  /** One round of what there is to do. Returns whether there was anything. */
  round(options: { readonly relay: boolean }): Promise<boolean>;
}

export function runtimeOn(store: AsyncSqliteStore, onCommit: (milliseconds: number) => void): Runtime {
  /** `fresh` is what there is when nothing is stored yet. */
  async function handle(id: string, event: Event, fresh: Execution | null = null): Promise<void> {
    for (let tries = 1; ; tries++) {
      const [found, alreadyProcessed] = await store.loadForEvent(id, event.id);
      if (alreadyProcessed) return;
      const before = found ?? fresh;
      if (before === null) throw new Error(`${event.kind} is for an Execution that is not there`);
      try {
        return await commit(before, stepOf(before, event), event);
      } catch (error) {
        const someoneWasFirst = error instanceof StoreConflict || error instanceof Fenced;
        if (!someoneWasFirst || tries === MAX_TRIES) throw error;
      }
    }
  }

  async function commit(before: Execution, step: Step, event: Event): Promise<void> {
    const { exe, emits, timers, spawns, handled } = step;
    const fireAt = event.data["fire_at"];
    const trace = {
      event: { id: event.id, kind: event.kind, text: textOf(event) },
      from: before.version === 0 ? null : before.active_path,
      to: exe.active_path,
      handled,
      at: now(),
      late: typeof fireAt === "number" ? now() - fireAt : null,
      emits: emits.map(({ target_id = null, event: { kind } }) => ({ to: target_id, kind })),
      timers: timers.map(({ op, path }) => ({ op, path })),
      spawns: spawns.map(({ child_id }) => child_id),
    };
    const started = performance.now();
    await store.commit(exe, { emits, timers, spawns, trace, processedEventId: event.id });
    onCommit(performance.now() - started);
  }

  async function start(fresh: Execution): Promise<void> {
    await handle(fresh.id, newEvent({ id: `start of ${fresh.id}`, kind: "start" }), fresh);
  }

  // Each takes its row away only when the effect is durable: then a kill in between means doing it again, and doing it
  // again changes nothing.
  async function deliver({ seq, target_id, event }: OutboxRow): Promise<void> {
    const target = target_id ?? "customer";
    const mailbox = OUTSIDE.has(target) ? newExecution({ id: target, definition_id: "mailbox" }) : null;
    await handle(target, event, mailbox);
    await store.ackOutbox(seq);
  }

  async function startChild({ seq, parent_id, child_id, root_path, context }: SpawnRow): Promise<void> {
    await start(newExecution({ id: child_id, definition_id: "part", root_path, context, parent_id, child_id }));
    await store.ackSpawn(seq);
  }

  async function fire({ execution_id, path, fire_at }: Timer): Promise<void> {
    // The same timer always makes the same event.
    const id = `timer ${path} ${fire_at}`;
    await handle(execution_id, newEvent({ id, kind: "timeout", data: { path, fire_at } }));
    await store.deleteTimer(execution_id, path, fire_at);
  }

  return {
    startOrder: (id) => start(newExecution({ id, definition_id: "order", root_path: "Order" })),
    handle: (id, event) => handle(id, event),
    deliver,
    startChild,
    async round({ relay }) {
      // Events first: the child that one of them is for is then stored, or among the spawns that are read next.
      const [events, spawns, timers] = await Promise.all([
        relay ? store.pendingOutbox({ limit: ROUND }) : [],
        relay ? store.pendingSpawns() : [],
        store.dueTimers(now()),
      ]);
      await Promise.all(spawns.map(startChild));
      await inLanes(events, ({ target_id }) => target_id ?? "", deliver);
      await inLanes(timers, ({ execution_id }) => execution_id, fire);
      return events.length + spawns.length + timers.length > 0;
    },
  };
}

/** What the event does: in its own mailbox a message is only kept. */
function stepOf(exe: Execution, event: Event): Step {
  if (exe.definition_id !== "mailbox")
    return exe.version === 0 ? begin(chart, exe, now()) : react(chart, exe, event, now());
  const next = { ...exe, status: "RUNNING" as const, processed_events: exe.processed_events + 1 };
  return { exe: next, emits: [], timers: [], spawns: [], handled: true };
}

/** A word on what an event carries, for the timeline. */
function textOf({ data }: Event): string {
  const { item, amount, items, outcome } = data;
  if (typeof item === "string") return item;
  if (typeof amount === "number") return `€ ${amount.toFixed(2)}`;
  if (Array.isArray(items)) return items.map(String).join(", ");
  return typeof outcome === "string" ? outcome : "";
}

/** Rows for the same Execution one after the other, others beside them. */
async function inLanes<Row>(
  rows: readonly Row[],
  laneOf: (row: Row) => string,
  work: (row: Row) => Promise<void>,
): Promise<void> {
  const lanes = new Map<string, Row[]>();
  for (const row of rows) lanes.set(laneOf(row), [...(lanes.get(laneOf(row)) ?? []), row]);
  const walk = async (lane: readonly Row[]): Promise<void> => {
    for (const row of lane) await work(row);
  };
  await Promise.all([...lanes.values()].map(walk));
}
