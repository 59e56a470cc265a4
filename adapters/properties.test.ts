// Random histories against the model: batches of writes by two stores on one place, bad records, flushes and leases that
// fail, stores reopened. After every batch both stores must show exactly what the model shows (L1, L3, L4).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TARGETS } from "../e2e/targets.ts";
import type { Target } from "../src/contract/index.ts";
import { observe } from "../src/contract/samples.ts";
import { play, type Stage, type Store } from "../src/contract/stage.ts";
import { FlushFailed, RecordInvalid, StoreBusy, StoreConflict } from "../src/errors.ts";
import { newExecution } from "../src/records/codec.ts";
import type { JsonObject } from "../src/records/json.ts";
import { type Status, STATUSES } from "../src/records/structs.ts";
import { markerKey, Model, type ModelEffects, type Write } from "../src/store/testing.ts";

const TRACE_MAX = 3;
const IDS = ["a", "b", "c"] as const;
const EVENT_IDS = ["", "e", "f"] as const;

/** A write whose version or seq is chosen when it is called, from what is there. */
type Step =
  | { op: "commit"; id: string; behind: number; status: Status; context: JsonObject; effects: ModelEffects }
  | { op: "ackOutbox" | "ackSpawn"; nth: number }
  | Extract<Write, { op: "appendTrace" | "deleteTimer" | "bad" }>;

interface Batch {
  /** Which of the two stores. */
  by: 0 | 1;
  steps: Step[];
  /** Called while the flush of `steps` is under way, where that can be. */
  meanwhile: Step[];
  fault: "append" | "lock" | null;
  reopen: boolean;
}

const id = fc.constantFrom(...IDS);
const path = fc.constantFrom("", "Wait", "W.ü");
const instant = fc.constantFrom(-1, 0, 1.5, 1.5000000000000002, 1e16);
const op = <T extends string>(name: T): fc.Arbitrary<T> => fc.constant(name);
const few = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(one, { maxLength: 2 });
/** By way of its text: JSON does not tell minus zero from zero. */
const small = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
/** Moves pages about, and grows the database. */
const large: fc.Arbitrary<JsonObject> = fc.nat(20_000).map((length) => ({ text: "x".repeat(length) }));
const json = fc.oneof({ arbitrary: small, weight: 4 }, { arbitrary: large, weight: 1 });

const effects: fc.Arbitrary<ModelEffects> = fc.record({
  emits: few(
    fc.record({
      target_id: fc.constantFrom(null, "", "t"),
      event: json.map((data) => ({ id: "e", kind: "K", created_time: null, received_time: null, data })),
    }),
  ),
  processedEventId: fc.constantFrom(null, ...EVENT_IDS),
  spawns: few(fc.record({ child_id: id, root_path: path, context: json })),
  timers: few(
    fc.oneof(fc.record({ op: op("schedule"), path, fire_at: instant }), fc.record({ op: op("cancel"), path })),
  ),
  trace: fc.option(json),
});

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ op: op("commit"), id, status: fc.constantFrom(...STATUSES), context: json, effects },
      // Most are up to date; some come late, or from nowhere.
      behind: fc.constantFrom(0, 0, 0, 0, 1, -1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: op("appendTrace"), id, entry: json }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom("ackOutbox", "ackSpawn"), nth: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ op: op("deleteTimer"), id, path, fireAt: instant }) },
  { weight: 1, arbitrary: fc.record({ op: op("bad"), id }) },
);

const anyBatch: fc.Arbitrary<Batch> = fc.record({
  by: fc.constantFrom(0, 1),
  steps: fc.array(anyStep, { minLength: 1, maxLength: 5 }),
  meanwhile: fc.array(anyStep, { maxLength: 3 }),
  fault: fc.option(fc.constantFrom("append", "lock"), { freq: 3 }),
  reopen: fc.constantFrom(true, false, false, false),
});

/** The writes that steps called one after another stand for, should all go well. */
function writesOf(steps: readonly Step[], model: Model): Write[] {
  const upToDate: string[] = [];
  return steps.map((step): Write => {
    switch (step.op) {
      case "commit": {
        const { id: of, behind, status, context, effects: all } = step;
        const earlier = upToDate.filter((one) => one === of).length;
        if (behind === 0) upToDate.push(of);
        const version = Math.max(0, model.version(of) + earlier - behind);
        return {
          op: "commit",
          exe: newExecution({ id: of, definition_id: "order", version, status, context }),
          effects: all,
        };
      }
      case "ackOutbox":
        return { op: "ackOutbox", seq: model.outbox[step.nth]?.seq ?? step.nth };
      case "ackSpawn":
        return { op: "ackSpawn", seq: model.spawns[step.nth]?.seq ?? step.nth };
      default:
        return step;
    }
  });
}

/** Starts a write now; what a synchronous store throws, rejects. */
async function start(store: Store, write: Write): Promise<void> {
  switch (write.op) {
    case "commit":
      // A copy: the store counts its version up.
      return store.commit({ ...write.exe }, write.effects);
    case "appendTrace":
      return store.appendTrace(write.id, write.entry);
    case "ackOutbox":
      return store.ackOutbox(write.seq);
    case "ackSpawn":
      return store.ackSpawn(write.seq);
    case "deleteTimer":
      return store.deleteTimer(write.id, write.path, write.fireAt);
    case "bad":
      return store.save({ ...newExecution({ definition_id: "order", id: write.id }), priority: 9 });
  }
}

/** Calls them all now, in order. Never rejects. */
const startAll = (store: Store, writes: readonly Write[]): Promise<PromiseSettledResult<void>[]> =>
  Promise.allSettled(writes.map((write) => start(store, write)));

/** Holds outcomes against the model, in the order of the calls. Gives how many failed with `injected`. */
function judge(
  writes: readonly Write[],
  outcomes: readonly PromiseSettledResult<void>[],
  model: Model,
  injected: Error,
): number {
  let failed = 0;
  for (const [i, outcome] of outcomes.entries()) {
    const error: unknown = outcome.status === "rejected" ? outcome.reason : null;
    if (error === injected) {
      failed++;
      continue;
    }
    const expected = { done: null, conflict: StoreConflict, invalid: RecordInvalid }[model.apply(writes[i]!)];
    if (expected === null) expect(error).toBeNull();
    else expect(error).toBeInstanceOf(expected);
  }
  return failed;
}

async function runBatch({ target, faults }: Stage, store: Store, model: Model, batch: Batch): Promise<void> {
  const injected = batch.fault === "lock" ? new StoreBusy("place", 1, "somebody") : new FlushFailed("place", null);
  if (batch.fault !== null) faults.failing[batch.fault].push(injected);
  const writes = writesOf(batch.steps, model);
  const later = writesOf(batch.meanwhile, model);
  if (target.store === "SqliteStore") {
    const all = [...writes, ...later];
    expect(judge(all, await startAll(store, all), model, injected)).toBeLessThanOrEqual(1);
  } else {
    const gate = faults.hold();
    const outcomes = startAll(store, writes);
    // A group that changes nothing has no flush.
    await Promise.race([gate.reached, outcomes]);
    const read = store.load("a");
    const laterOutcomes = startAll(store, later);
    gate.open();
    // A group fails as a whole, or not at all; a record that is refused never got into it.
    const whole = (all: readonly Write[]): number => all.filter(({ op: name }) => name !== "bad").length;
    expect([0, whole(writes)]).toContain(judge(writes, await outcomes, model, injected));
    expect(await read).toEqual(model.executions.get("a") ?? null);
    expect([0, whole(later)]).toContain(judge(later, await laterOutcomes, model, injected));
  }
  faults.clear();
}

async function check(store: Store, model: Model): Promise<void> {
  expect(await observe(store, IDS)).toEqual(model.observe(IDS));
  for (const one of IDS) {
    for (const eventId of EVENT_IDS) {
      expect(await store.isProcessed(one, eventId)).toBe(model.markers.has(markerKey(one, eventId)));
    }
  }
}

async function runHistory(stage: Stage, batches: readonly Batch[]): Promise<void> {
  const model = new Model(TRACE_MAX);
  const options = { traceMax: TRACE_MAX };
  // What only one store can have open is shared behind its back.
  const shared = stage.target.supports.shared ? null : await stage.share();
  const open = (): Promise<Store> => (shared === null ? stage.openFaulty(options) : shared.open(options));
  let stores = [await open(), await open()];
  for (const batch of batches) {
    await runBatch(stage, stores[batch.by]!, model, batch);
    if (batch.reopen) {
      for (const store of stores) await store.close();
      stores = [await open(), await open()];
    }
    for (const store of stores) await check(store, model);
  }
}

const targets: Target[] = Object.values(TARGETS).flatMap(({ sync, async }) =>
  sync === null ? [async] : [sync, async],
);

describe.each(targets)("$name", (target) => {
  test("L1 L3 L4 a random history shows what the model shows, whatever fails on the way", async () => {
    const history = fc.asyncProperty(fc.array(anyBatch, { maxLength: 8 }), (batches) =>
      play(target, (stage) => runHistory(stage, batches)),
    );
    // A sync of the disk takes longer than all the rest.
    await fc.assert(history, { numRuns: target.supports.durable ? 20 : 60 });
  });
});
