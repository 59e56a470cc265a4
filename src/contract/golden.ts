// Databases that the original wrote, and what its own reads return for them: one walker over expected values that are
// data.
import type { Execution, Timer } from "../records/structs.ts";
import type { ListOptions, Page } from "../store/listing.ts";
import { equal, sameText } from "./check.ts";
import { order } from "./samples.ts";
import { type Chapter, scenarioFor } from "./scenario.ts";
import type { Store } from "./stage.ts";

interface GoldenPage {
  readonly items: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

/** What the original's reads returned. */
export interface GoldenExpected {
  readonly executions: { readonly [id: string]: Execution };
  readonly raw_data: { readonly [id: string]: string };
  readonly pages_of_7: readonly GoldenPage[];
  readonly list_failed: GoldenPage;
  readonly list_roots_order: GoldenPage;
  readonly processed_events: readonly (readonly [string, string])[];
  readonly pending_outbox: readonly unknown[];
  readonly pending_spawns: readonly unknown[];
  readonly due_timers_all: readonly (readonly [string, string, number])[];
  readonly due_timers_110: readonly (readonly [string, string, number])[];
  readonly traces: { readonly [id: string]: readonly unknown[] };
  readonly sequences: { readonly outbox: number; readonly spawns: number };
}

/** A database the original wrote, with the log it left beside it, if any. */
export interface GoldenDatabase {
  readonly name: string;
  readonly database: Uint8Array;
  readonly wal: Uint8Array | null;
  readonly expected: GoldenExpected;
}

/** Everything the original read, read here. */
async function readAll(store: Store, expected: GoldenExpected): Promise<void> {
  for (const [id, exe] of Object.entries(expected.executions)) {
    equal(await store.load(id), exe, `load ${id}`);
    sameText(await store.load(id), JSON.parse(expected.raw_data[id]!), `keys of ${id}`);
    equal(await store.readTrace(id), expected.traces[id], `trace of ${id}`);
  }
  const items = async (options: ListOptions): Promise<unknown> => (await store.listExecutions(options)).items;
  let ours: string | null = null;
  let theirs: string | null = null;
  for (const [i, page] of expected.pages_of_7.entries()) {
    const found: Page = await store.listExecutions({ limit: 7, cursor: ours });
    equal(found.items, page.items, `page ${i}`);
    equal(found.nextCursor === null, page.next_cursor === null, `page ${i} is the last one`);
    equal(await items({ limit: 7, cursor: theirs }), page.items, `page ${i} by the original's cursor`);
    ours = found.nextCursor;
    theirs = page.next_cursor;
  }
  equal(await items({ status: ["FAILED", "DONE"] }), expected.list_failed.items, "DONE or FAILED");
  equal(await items({ rootsOnly: true, definitionId: "order" }), expected.list_roots_order.items, "roots of order");
  for (const [id, eventId] of expected.processed_events) {
    equal(await store.isProcessed(id, eventId), true, `marker ${id} ${eventId}`);
    equal(await store.loadForEvent(id, eventId), [expected.executions[id] ?? null, id in expected.executions]);
    equal(await store.isProcessed(id, `${eventId}x`), false);
  }
  equal(await store.pendingOutbox(), expected.pending_outbox, "outbox");
  equal(await store.pendingSpawns(), expected.pending_spawns, "spawns");
  const rows = (timers: readonly Timer[]) =>
    timers.map(({ execution_id, path, fire_at }) => [execution_id, path, fire_at]);
  equal(rows(await store.dueTimers(Number.MAX_VALUE)), expected.due_timers_all, "timers");
  equal(rows(await store.dueTimers(110)), expected.due_timers_110, "timers due at 110");
}

/** The scenarios of one golden database. */
export function goldenChapter({ name, database, wal, expected }: GoldenDatabase): Chapter {
  return {
    title: `golden database ${name}`,
    scenarios: [
      scenarioFor(["durable"], `L5 ${name} reads as the original reads it`, async ({ place, open }) => {
        await place.putFiles!({ database, wal });
        const store = await open({ traceMax: 5 });
        await readAll(store, expected);
        equal(await store.verify(), [], "problems");
        await store.close();
        await readAll(await open({ traceMax: 5 }), expected);
      }),

      scenarioFor(["durable"], `L1 ${name} takes writes where the original stopped`, async ({ place, open }) => {
        await place.putFiles!({ database, wal });
        const store = await open({ traceMax: 5 });
        const traces: { readonly [id: string]: readonly { index: number }[] } = expected.traces as never;
        for (const id of Object.keys(expected.executions)) {
          const exe = (await store.load(id))!;
          await store.commit(exe, { trace: { written: "here" } });
          equal(exe.version, expected.executions[id]!.version + 1);
        }
        await store.commit(order("new"), { emits: [{ event: { kind: "K" } }], spawns: [{ child_id: "c" }] });
        await store.close();
        const again = await open();
        for (const [id, exe] of Object.entries(expected.executions)) {
          equal(await again.load(id), { ...exe, version: exe.version + 1 });
          const before = traces[id]!;
          const step = { written: "here", index: (before.at(-1)?.index ?? -1) + 1 };
          equal(await again.readTrace(id), [...before, step].slice(-5));
        }
        equal((await again.pendingOutbox()).at(-1)?.seq, expected.sequences.outbox + 1);
        equal((await again.pendingSpawns()).at(-1)?.seq, expected.sequences.spawns + 1);
      }),
    ],
  };
}
