// What the page knows, all of it read from the store in one go, so that the parts fit together. Read again whenever the
// store says that something changed, here or in another tab; the page shows nothing it has not read.
import type { AsyncSqliteStore, Execution, ExecutionSummary, OutboxRow, SpawnRow, Status, Timer } from "perdure";
import { OUTSIDE, type Part, partsOf } from "./order.ts";
import type { TracedStep } from "./runtime.ts";

const PAGE_ROWS = 8;
/** Rows of the outbox and of the post that are shown. */
export const SHOWN_ROWS = 6;

/** What the user looks at. Kept for this tab, so that a reload shows the same. */
export interface Look {
  selected: string | null;
  status: Status | null;
  /** Where the pages so far began; the last one is the page shown. */
  cursors: (string | null)[];
  /** Whether this tab delivers messages and starts children by itself. */
  relay: boolean;
}

export interface Snapshot {
  readonly orders: readonly ExecutionSummary[];
  readonly nextCursor: string | null;
  readonly parts: Readonly<Record<Part, Execution | null>>;
  /** The steps of all parts, the youngest first. */
  readonly steps: readonly (TracedStep & { readonly part: Part })[];
  /** All timers that are set, the soonest first. */
  readonly timers: readonly Timer[];
  /** One row more than is shown, if there are more. */
  readonly outbox: readonly OutboxRow[];
  readonly spawns: readonly SpawnRow[];
  /** What arrived outside, the youngest first. */
  readonly delivered: readonly (TracedStep & { readonly to: string })[];
}

const youngestFirst = (a: TracedStep, b: TracedStep): number => b.at - a.at || b.index - a.index;
const PARTS = ["order", "pack", "invoice", "shipment"] as const;

export async function read(store: AsyncSqliteStore, look: Look): Promise<Snapshot> {
  const ids = partsOf(look.selected ?? "");
  const stepsOf = async (id: string): Promise<TracedStep[]> => (await store.readTrace(id)) as unknown as TracedStep[];
  // Asked together, they are most often answered together. When very much is under way somebody may commit in between; then
  // the store says so, and all is read again.
  const [page, executions, traces, timers, outbox, spawns, delivered] = await Promise.all([
    store.listExecutions({
      definitionId: "order",
      status: look.status,
      limit: PAGE_ROWS,
      cursor: look.cursors.at(-1) ?? null,
    }),
    Promise.all(PARTS.map((part) => store.load(ids[part]))),
    Promise.all(PARTS.map(async (part) => (await stepsOf(ids[part])).map((step) => ({ ...step, part })))),
    store.dueTimers(Number.POSITIVE_INFINITY),
    store.pendingOutbox({ limit: SHOWN_ROWS + 1 }),
    store.pendingSpawns({ limit: SHOWN_ROWS + 1 }),
    Promise.all(
      [...OUTSIDE].map(async (to) => (await stepsOf(to)).slice(-SHOWN_ROWS).map((step) => ({ ...step, to }))),
    ),
  ]);
  const [order = null, pack = null, invoice = null, shipment = null] = executions;
  return {
    orders: page.items,
    nextCursor: page.nextCursor,
    parts: { order, pack, invoice, shipment },
    steps: traces.flat().sort(youngestFirst),
    timers,
    outbox,
    spawns,
    delivered: delivered.flat().sort(youngestFirst).slice(0, SHOWN_ROWS),
  };
}

const KEY = "perdure demo: look";

/** What this tab looked at before it was reloaded. */
export function rememberedLook(): Look {
  const fresh: Look = { selected: null, status: null, cursors: [null], relay: true };
  try {
    return { ...fresh, ...(JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Partial<Look>) };
  } catch {
    return fresh;
  }
}

export function remember(look: Look): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(look));
  } catch {
    // Refused by the browser. Then a reload begins with the youngest order.
  }
}
