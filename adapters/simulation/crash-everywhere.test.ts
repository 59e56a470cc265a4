// The kit finds what is wrong with an app, says how to see it again, and finds nothing where nothing is.
import { describe, expect, test } from "vitest";
import { FlushFailed } from "../../src/errors.ts";
import { newExecution } from "../../src/records/codec.ts";
import { AsyncSqliteStore, SqliteStore } from "../browser.ts";
import { memoryAdapter } from "../memory.ts";
import {
  crashEverywhere,
  type CrashOptions,
  faultyAdapter,
  Faults,
  openSimulated,
  openSimulatedAsync,
  SimulatedDisk,
  type StoreClass,
} from "./index.ts";

type Either = SqliteStore | AsyncSqliteStore;
type Options = CrashOptions<Either, string>;

/** An app that pays in one commit; or, written wrongly, in two. */
const app = (isWrong: boolean): Pick<Options, "scenario" | "invariant" | "options"> => ({
  options: { checkpointFrames: 20 },
  async scenario({ open, acknowledged }) {
    const store = await open();
    for (const id of ["a", "b", "c"]) {
      const exe = newExecution({ id, definition_id: "order", status: "RUNNING" });
      const receipt = { emits: [{ target_id: id, event: { kind: "Receipt" } }] };
      await store.commit(exe, isWrong ? {} : receipt);
      if (isWrong) await store.commit(exe, receipt);
      acknowledged(id);
    }
    await store.close();
  },
  async invariant({ store, acknowledged }) {
    const paid = (await store.listExecutions()).items.map(({ id }) => id);
    const receipts = (await store.pendingOutbox()).map(({ target_id }) => target_id);
    if (paid.join() !== receipts.join()) throw new Error(`paid ${paid.join()}, receipts for ${receipts.join()}`);
    for (const id of acknowledged) if (!paid.includes(id)) throw new Error(`${id} is gone`);
  },
});

const STORES = [SqliteStore, AsyncSqliteStore].map((Store) => ({
  name: Store.name,
  Store: Store as StoreClass<Either>,
}));

describe.each(STORES)("$name", ({ Store }) => {
  test("L1 L2 an app that commits what belongs together has nothing to fear", async () => {
    const { points, crashes, counts, violations } = await crashEverywhere<Either, string>({
      ...app(false),
      Store,
      limit: 400,
    });
    expect(violations).toEqual([]);
    expect(points).toBeGreaterThan(100);
    expect(crashes).toBeGreaterThan(points);
    for (const mode of ["kill", "lost", "torn", "error"]) {
      expect(
        [...counts.keys()].some((key) => key.startsWith(`${mode} at `)),
        mode,
      ).toBe(true);
    }
  });

  test("an app that commits in two steps is found out, and what was found is seen again", async () => {
    const options: Options = { ...app(true), Store, modes: ["kill"], again: 0, seed: 3 };
    const { violations } = await crashEverywhere(options);
    expect(violations.length).toBeGreaterThan(2);
    const [{ reproduction, error }] = violations as [(typeof violations)[0]];
    expect(reproduction).toMatch(/^kill \d+\.\d+$/);
    const again = await crashEverywhere({ ...options, only: reproduction });
    expect(again.violations).toEqual([{ reproduction, error }]);
    expect(again.crashes).toBe(1);
  });

  test("L2 relaxed, a power cut takes what was acknowledged, and a kill does not", async () => {
    const options: Options = { ...app(false), Store, again: 0, options: { durability: "relaxed" } };
    expect((await crashEverywhere({ ...options, modes: ["kill"] })).violations).toEqual([]);
    const { violations } = await crashEverywhere({ ...options, modes: ["lost"] });
    expect(violations.map(({ error }) => (error as Error).message)).toContain("a is gone");
  });
});

test("a second crash, while the first is recovered from, is one to see again too", async () => {
  const { scenario } = app(false);
  const { violations } = await crashEverywhere<AsyncSqliteStore, string>({
    scenario,
    modes: ["kill"],
    limit: 30,
    invariant({ crash }) {
      if (crash.reproduction.includes(" then ")) throw new Error("seen");
    },
  });
  expect(violations.length).toBeGreaterThan(0);
  for (const { reproduction } of violations) expect(reproduction).toMatch(/^kill \d+\.\d+ then kill \d+\.\d+$/);
});

test("an error of the scenario itself is no violation: it is thrown", async () => {
  const crashing = crashEverywhere({
    scenario: () => Promise.reject(new Error("the test is wrong")),
    invariant() {},
  });
  await expect(crashing).rejects.toThrow("the test is wrong");
});

test("L4 a place on a simulated disk is for one store at a time", async () => {
  const disk = new SimulatedDisk();
  const store = await SqliteStore.create(await openSimulated(disk, "a.db"));
  await expect(openSimulatedAsync(disk, "a.db")).rejects.toMatchObject({ code: "store-busy" });
  store.save(newExecution({ id: "a", definition_id: "order" }));
  store.close();
  // What closing tidies up waits.
  await expect.poll(() => disk.names).toEqual(["a.db"]);
  const next = await AsyncSqliteStore.create(await openSimulatedAsync(disk, "a.db"));
  expect((await next.load("a"))?.version).toBe(1);
  await next.close();
});

test("L1 an adapter that fails undoes the commit, and is asked for by chance or by call", async () => {
  const faults = new Faults();
  const store = await SqliteStore.create(faultyAdapter(memoryAdapter(), faults));
  const exe = newExecution({ id: "a", definition_id: "order" });
  faults.failing.append.push(new FlushFailed("here", new Error("no")));
  expect(() => store.save(exe)).toThrow(FlushFailed);
  let isOff = true;
  faults.before = (call) => (isOff && call === "append" ? new FlushFailed("here", new Error("still not")) : null);
  expect(() => store.save(exe)).toThrow("here");
  expect([exe.version, store.load("a")]).toEqual([0, null]);
  isOff = false;
  store.save(exe);
  expect(faults.appends).toBe(4);
  store.close();
});

test.each([
  { limit: 0 },
  { limit: -1 },
  { modes: [] },
  { modes: ["nope"] },
  { varants: 1 },
  { seed: "x" },
  { again: -1 },
  { invariant: undefined },
  { only: "kill 999999.0" },
])("nonsense is refused, not crashed nowhere and found to be fine: %j", async (nonsense) => {
  const options = { scenario: async () => {}, invariant: async () => {}, ...nonsense } as unknown as Options;
  await expect(crashEverywhere(options)).rejects.toMatchObject({ code: "record-invalid" });
});

test("options beside the one argument are refused, not passed over", async () => {
  const beside = crashEverywhere as (...args: readonly unknown[]) => Promise<unknown>;
  const idle = { scenario: async () => {}, invariant: () => {} };
  await expect(beside(idle, { seed: 3 })).rejects.toThrow("takes one argument");
});
