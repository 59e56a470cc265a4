// Every step of IndexedDB fails once, in every way there is: each open, transaction, request and commit of a short life.
// Whatever is told to the store's user must be true afterwards (L1, L2), the store must go on (L1), and what is there
// must be whole (L7).
import { describe, expect, test } from "vitest";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { FlushFailed, PerdureError } from "../../src/errors.ts";
import { newExecution } from "../../src/records/codec.ts";
import type { Execution } from "../../src/records/structs.ts";
import { adapterOn } from "./adapter.ts";
import { FAULTS, FaultyIndexedDb, type StepKind } from "./testing/faults.ts";
import { Site, type Tab } from "./testing/site.ts";

interface Life {
  readonly site: Site;
  readonly faulty: FaultyIndexedDb;
  readonly tab: Tab;
  /** What went wrong, and was told. */
  readonly told: PerdureError[];
}

function newLife(): Life {
  const site = new Site();
  const faulty = new FaultyIndexedDb(site.indexedDB, site.clock);
  const tab = site.tab();
  tab.factory = () => faulty.factory;
  return { site, faulty, tab, told: [] };
}

/** What may fail, twice at the most, for a reason that it tells; then it works. */
async function atLast<T>({ told }: Life, work: () => Promise<T>, tries = 3): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      expect(error, String((error as Error).stack)).toBeInstanceOf(PerdureError);
      told.push(error as PerdureError);
      if (--tries === 0) throw error;
    }
  }
}

const open = ({ tab }: Life): Promise<AsyncSqliteStore> =>
  // Every append is followed by a fold.
  AsyncSqliteStore.create(adapterOn(tab, "store", { foldBytes: 1, openTimeoutMs: 1000 }));

/** A commit with an effect that can be counted. When its end is not known, looks. */
async function commit(life: Life, store: AsyncSqliteStore, exe: Execution): Promise<void> {
  const { version } = exe;
  try {
    await store.commit(exe, { emits: [{ target_id: exe.id, event: { kind: "K" } }], processedEventId: `${version}` });
  } catch (error) {
    expect(error, String((error as Error).stack)).toBeInstanceOf(PerdureError);
    life.told.push(error as PerdureError);
    expect(exe.version, "unchanged after any failure").toBe(version);
    const stored = await atLast(life, () => store.load(exe.id));
    if (error instanceof FlushFailed && error.code === "outcome-unknown" && stored?.version === version + 1) {
      exe.version++;
      return;
    }
    expect(stored?.version ?? 0, "undone").toBe(version);
    await commit(life, store, exe);
  }
}

/** Open, three commits, the connection lost between them, one more on the first, reopen, and one more. */
async function live(life: Life): Promise<void> {
  const exes = ["a", "b", "c"].map((id) =>
    newExecution({ definition_id: "order", id, context: { text: id.repeat(9000) } }),
  );
  let store = await atLast(life, () => open(life));
  for (const exe of [...exes, exes[0]!]) {
    await commit(life, store, exe);
    if (exe.id === "b") life.faulty.lose();
  }
  await store.close();
  store = await atLast(life, () => open(life));
  expect((await atLast(life, () => store.load("a")))?.version).toBe(2);
  await commit(life, store, exes[1]!);
  await store.close();
}

/** What is there, as another tab finds it, and without faults. */
async function check({ site }: Life): Promise<void> {
  const store = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", { mustExist: true }));
  const { items } = await store.listExecutions();
  expect(items.map(({ id, version }) => [id, version])).toEqual([
    ["a", 2],
    ["b", 2],
    ["c", 1],
  ]);
  expect((await store.load("b"))?.context).toEqual({ text: "b".repeat(9000) });
  const outbox = await store.pendingOutbox();
  expect(outbox.map(({ target_id }) => target_id ?? "").sort(compare), "each commit once").toEqual([
    "a",
    "a",
    "b",
    "b",
    "c",
  ]);
  expect(await store.verify()).toEqual([]);
  await store.close();
  expect(site.locks.isHeld("perdure:store")).toBe(false);
  expect(site.channels.size).toBe(0);
}

const compare = (a: string, b: string): number => (a < b ? -1 : 1);

async function stepsOf(kind: StepKind): Promise<number[]> {
  const life = newLife();
  await live(life);
  await check(life);
  expect(life.told).toEqual([]);
  return life.faulty.steps.flatMap((one, step) => (one === kind ? [step] : []));
}

const cases = Object.entries(FAULTS).flatMap(([kind, faults]) =>
  faults.map((fault) => [kind as StepKind, fault] as const),
);

describe("one thing goes wrong", () => {
  test.each(cases)("L1 L2 L3 L7 %s: %s", { timeout: 300_000 }, async (kind, fault) => {
    const steps = await stepsOf(kind);
    expect(steps.length).toBeGreaterThan(2);
    for (const step of steps) {
      const life = newLife();
      life.faulty.plan = (_, at) => (at === step ? fault : null);
      try {
        await live(life);
        await check(life);
      } catch (error) {
        throw new Error(`step ${step} (${kind}): ${fault}`, { cause: error });
      }
    }
  });

  test.each(["is lost and kept", "is lost and gone", "hangs and is kept", "hangs and is gone"])(
    "L1 L2 commit: %s, and then nothing opens: told as unknown, and then true",
    { timeout: 300_000 },
    async (fault) => {
      const codes = new Set<string>();
      for (const step of await stepsOf("commit")) {
        const life = newLife();
        // Once more at once, and that is all a commit tries.
        life.faulty.plan = (kind, at) =>
          at === step ? fault : at > step && at <= step + 2 && kind === "open" ? "fails" : null;
        try {
          await live(life);
          await check(life);
        } catch (error) {
          throw new Error(`step ${step}: ${fault}`, { cause: error });
        }
        for (const { code } of life.told) codes.add(code);
      }
      expect(codes).toContain("outcome-unknown");
    },
  );

  test.each(cases)("L1 L7 from some step on nothing works but: %s: %s", { timeout: 300_000 }, async (kind, fault) => {
    const steps = await stepsOf(kind);
    for (const step of steps.slice(0, 6)) {
      const life = newLife();
      life.faulty.plan = (one, at) => (at >= step && one === kind ? fault : null);
      const told = await live(life).catch((error: unknown) => error);
      if (told !== undefined) expect(told, String((told as Error).stack)).toBeInstanceOf(PerdureError);
      life.faulty.plan = () => null;
      const store = await open(life);
      expect(await store.verify(), `step ${step}`).toEqual([]);
      await store.close();
    }
  });
});
