// Two to four stores on one place, under every order of their steps that fast-check comes up with: no update is lost, no
// read shows what is not durable, nobody waits for ever; whatever is stolen, refused, subscribed to or closed on the way.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Fenced, FlushFailed, StoreClosed, StoreConflict } from "../src/errors.ts";
import { newExecution } from "../src/records/codec.ts";
import { AsyncSqliteStore } from "../src/store/async-sqlite-store.ts";
import { ScheduledPlace } from "./testing/scheduled-place.ts";

const IDS = ["a", "b"] as const;
const ATTEMPTS = 4;

type Act =
  | { readonly act: "add" | "read"; readonly id: string }
  /** Two that are called together. */
  | { readonly act: "add both" | "subscribe" | "unsubscribe" | "close" | "steal" | "fail" };

const anyAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant("add" as const), id: fc.constantFrom(...IDS) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("read" as const), id: fc.constantFrom(...IDS) }) },
  { weight: 2, arbitrary: fc.constant({ act: "add both" as const }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom("subscribe" as const, "unsubscribe" as const) }) },
  { weight: 2, arbitrary: fc.constant({ act: "steal" as const }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom("close" as const, "fail" as const) }) },
);

const anyProgram = fc.array(fc.array(anyAct, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 4 });

/** A read, with how many transactions were durable when it was called and when it came back. */
interface Seen {
  readonly id: string;
  readonly version: number;
  readonly called: number;
  readonly returned: number;
}

interface History {
  readonly place: ScheduledPlace;
  /** Id → commits that were acknowledged. */
  readonly added: Map<string, number>;
  readonly seen: Seen[];
}

/** What a store may be told, and the caller then does about it. */
const isTold = (error: unknown): boolean =>
  error instanceof StoreConflict || error instanceof Fenced || error instanceof FlushFailed;

async function read({ place, seen }: History, store: AsyncSqliteStore, id: string) {
  const called = place.length;
  const exe = await store.load(id);
  seen.push({ id, version: exe?.version ?? 0, called, returned: place.length });
  return exe;
}

/** Counts an Execution up by one, as apps do: load, commit, and again after a conflict. */
async function add(history: History, store: AsyncSqliteStore, id: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const exe = (await read(history, store, id)) ?? newExecution({ id, definition_id: "counter" });
    const { version } = exe;
    try {
      await store.commit(exe, { emits: [{ target_id: id, event: { kind: "Added" } }], trace: { version } });
    } catch (error) {
      if (!isTold(error)) throw error;
      expect(exe.version, "L1 unchanged after any failure").toBe(version);
      continue;
    }
    history.added.set(id, (history.added.get(id) ?? 0) + 1);
    return;
  }
}

/** One writer's acts, in their order. */
async function play(history: History, store: AsyncSqliteStore, acts: readonly Act[]): Promise<void> {
  const ends: (() => void)[] = [];
  const closing: Promise<void>[] = [];
  try {
    for (const one of acts) {
      switch (one.act) {
        case "add":
          await add(history, store, one.id);
          break;
        case "read":
          await read(history, store, one.id);
          break;
        case "add both":
          await Promise.all(IDS.map((id) => add(history, store, id)));
          break;
        case "subscribe":
          ends.push(store.subscribe(() => expect(history.place.length, "L3 told when durable").toBeGreaterThan(0)));
          break;
        case "unsubscribe":
          ends.pop()?.();
          break;
        case "steal":
          history.place.steal();
          break;
        case "fail":
          history.place.failsNext = true;
          break;
        case "close":
          // Not waited for: what comes next is called on a store that closes.
          closing.push(store.close());
      }
    }
  } catch (error) {
    if (!(error instanceof StoreClosed)) throw error;
  }
  await Promise.all([...closing, store.close()]);
}

/** Lets steps go on in the schedule's order until there are none; gives what has not ended then. */
async function runOut(schedule: fc.Scheduler, all: readonly Promise<void>[]): Promise<number> {
  let open = all.length;
  for (const one of all)
    void one.then(
      () => open--,
      () => open--,
    );
  for (;;) {
    // Everything that needs no step comes first.
    await new Promise(setImmediate);
    if (schedule.count() === 0) return open;
    await schedule.waitNext(1);
  }
}

async function checkHistory({ place, added, seen }: History): Promise<void> {
  const asked = new Set([place.length, ...seen.flatMap(({ called, returned }) => [called, returned])]);
  const versions: Map<string, number>[] = [];
  for (const length of asked) versions[length] = await place.versionsAt(length);
  for (const id of IDS) expect(versions[place.length]!.get(id) ?? 0, `L4 updates of ${id}`).toBe(added.get(id) ?? 0);
  for (const { id, version, called, returned } of seen) {
    expect(version, "L3 a read shows what is durable").toBeLessThanOrEqual(versions[returned]!.get(id) ?? 0);
    expect(version, "L4 a read takes in what others committed").toBeGreaterThanOrEqual(versions[called]!.get(id) ?? 0);
  }
}

test("L1 L3 L4 under any schedule no update is lost, no read is ahead of the disk, and nobody waits for ever", async () => {
  const histories = fc.asyncProperty(fc.scheduler(), anyProgram, async (schedule, program) => {
    const place = new ScheduledPlace();
    const history: History = { place, added: new Map(), seen: [] };
    const stores: AsyncSqliteStore[] = [];
    for (const _ of program) stores.push(await AsyncSqliteStore.create(place.adapter()));
    place.step = (label) => schedule.schedule(Promise.resolve(), label);
    const writers = program.map((acts, i) => play(history, stores[i]!, acts));
    expect(await runOut(schedule, writers), "writers that wait for ever").toBe(0);
    await Promise.all(writers);
    await checkHistory(history);
  });
  await fc.assert(histories, { numRuns: 40 });
}, 240_000);

test("L3 subscribers that come and go are told of every flush they were there for, and of none before it was durable", async () => {
  const storms = fc.asyncProperty(fc.scheduler(), fc.array(fc.nat(3), { maxLength: 30 }), async (schedule, storm) => {
    const place = new ScheduledPlace();
    const store = await AsyncSqliteStore.create(place.adapter());
    place.step = (label) => schedule.schedule(Promise.resolve(), label);
    const told: string[] = [];
    store.subscribe(({ origin, executionIds }) => told.push(`${origin} ${executionIds?.join() ?? "any"}`));
    const ends: (() => void)[] = [];
    const writing = (async () => {
      for (const id of ["1", "2", "3"]) {
        const before = place.length;
        await store.save(newExecution({ id, definition_id: "counter" }));
        expect(place.length).toBe(before + 1);
      }
    })();
    const storming = (async () => {
      for (const how of storm) {
        await place.step("storm");
        if (how === 0) ends.pop()?.();
        else if (how === 1) ends.push(store.subscribe(() => ends.pop()?.()));
        else ends.push(store.subscribe(() => ends.push(store.subscribe(() => {}))));
      }
    })();
    expect(await runOut(schedule, [writing, storming]), "who waits for ever").toBe(0);
    await Promise.all([writing, storming]);
    expect(told).toEqual(["local 1", "local 2", "local 3"]);
    place.step = async () => {};
    await store.close();
  });
  await fc.assert(storms, { numRuns: 25 });
}, 240_000);
