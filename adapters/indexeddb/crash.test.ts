// A tab dies at each step of its life: before each open, transaction, request and commit, and with a commit under way that
// is kept or gone. Another tab takes over its lease, finds every acknowledged commit whole and once, and goes on (L1, L2, L4).
import { expect, test } from "vitest";
import { newExecution } from "../../src/records/codec.ts";
import type { Execution } from "../../src/records/structs.ts";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { FaultyIndexedDb, type StepKind } from "./testing/faults.ts";
import { Site } from "./testing/site.ts";

/** What becomes of the commit that a tab dies in. */
const FATES = ["hangs and is gone", "hangs and is kept"] as const;
type Fate = (typeof FATES)[number];

/** Every step from the death on: nothing comes back. */
const DEAD: { readonly [kind in StepKind]: string } = {
  ...{ open: "hangs", begin: "throws", request: "hangs", commit: "hangs and is gone" },
};

interface Ledger {
  /** Id → the version acknowledged last. */
  readonly kept: Map<string, number>;
  /** Commits whose end nobody was told. */
  open: string[];
}

async function commit(store: AsyncSqliteStore, exe: Execution, { kept, open }: Ledger): Promise<void> {
  const name = `${exe.id} ${exe.version + 1}`;
  open.push(name);
  const emits = [{ target_id: exe.id, event: { kind: "Go", data: { version: exe.version + 1 } } }];
  await store.commit(exe, { emits, trace: { version: exe.version + 1 } });
  kept.set(exe.id, exe.version);
  open.splice(open.indexOf(name), 1);
}

/** Opens, commits alone and in a group, a fold after each; closes, opens again and commits once more. */
async function live(open: () => Promise<AsyncSqliteStore>, ledger: Ledger): Promise<void> {
  const exes = ["a", "b", "c"].map((id) =>
    newExecution({ definition_id: "order", id, context: { text: id.repeat(6000) } }),
  );
  let store = await open();
  await commit(store, exes[0]!, ledger);
  await Promise.all(exes.map((exe) => commit(store, exe, ledger)));
  await store.close();
  store = await open();
  await commit(store, exes[1]!, ledger);
  await store.close();
}

/** Lives until step `last`; gives what another tab has to find, or null when there was no such step. */
async function die(last: number, fate: Fate): Promise<{ site: Site; ledger: Ledger } | null> {
  const site = new Site();
  const faulty = new FaultyIndexedDb(site.indexedDB, site.clock);
  const tab = site.tab();
  tab.factory = () => faulty.factory;
  const ledger: Ledger = { kept: new Map(), open: [] };
  let tell = (): void => {};
  const death = new Promise<Ledger>((resolve) => {
    tell = () => resolve({ kept: new Map(ledger.kept), open: [...ledger.open] });
  });
  faulty.plan = (kind, step) => {
    if (step < last) return null;
    if (step === last) {
      tell();
      // It hears nothing and says nothing any more; its lock is its own until somebody takes it.
      queueMicrotask(() => tab.freeze());
    }
    return step === last && kind === "commit" ? fate : DEAD[kind];
  };
  const open = (): Promise<AsyncSqliteStore> => AsyncSqliteStore.create(adapterOn(tab, "store", { foldBytes: 1 }));
  const end = live(open, ledger).then(
    () => null,
    () => null,
  );
  const found = await Promise.race([death, end]);
  return found === null ? null : { site, ledger: found };
}

async function check({ kept, open }: Ledger, store: AsyncSqliteStore): Promise<void> {
  let more = 0;
  const sent = (await store.pendingOutbox()).map(
    ({ target_id, event }) => `${target_id} ${JSON.stringify(event.data["version"])}`,
  );
  const wanted: string[] = [];
  for (const id of ["a", "b", "c"]) {
    const version = (await store.load(id))?.version ?? 0;
    const known = kept.get(id) ?? 0;
    expect(version, `${id} was acknowledged`).toBeGreaterThanOrEqual(known);
    for (let n = known + 1; n <= version; n++) expect(open, "nobody was told of it").toContain(`${id} ${n}`);
    more += version - known;
    expect((await store.readTrace(id)).map((entry) => entry["version"])).toEqual(
      Array.from({ length: version }, (_, i) => i + 1),
    );
    for (let n = 1; n <= version; n++) wanted.push(`${id} ${n}`);
  }
  expect([0, open.length], "a group is there or not").toContain(more);
  expect(sent.toSorted(), "each commit once, and whole").toEqual(wanted);
  expect(await store.verify()).toEqual([]);
}

test.each(FATES)(
  "L1 L2 L4 L7 a tab that dies at any step, with a commit that %s",
  async (fate) => {
    let step = 0;
    for (let left = await die(step, fate); left !== null; left = await die(++step, fate)) {
      const { site, ledger } = left;
      const store = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", {}));
      await check(ledger, store);
      const exe = newExecution({ id: "after", definition_id: "order" });
      await store.save(exe);
      await store.close();
      const again = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", { mustExist: true }));
      expect((await again.load("after"))?.version, `after step ${step}`).toBe(1);
      await again.close();
    }
    // Opens, reads, appends, folds: a life has many steps.
    expect(step).toBeGreaterThan(60);
  },
  240_000,
);
