// What is crashed everywhere: short lives of a store that go through everything it does to storage, and what must be so
// whatever was left of them (L1 to L5, L7).
import { AsyncSqliteStore, newExecution, PerdureError, SqliteStore } from "perdure";
import { auditBytes, commitOnce, settle } from "./books.js";
import { mount, newProcess, runAs } from "./mount.js";

/**
 * @typedef {import("./books.js").Fact} Fact
 * @typedef {SqliteStore | AsyncSqliteStore} Store
 * @typedef {import("perdure/testing").ScenarioContext<Store, Fact>} Context
 * @typedef {import("perdure/testing").InvariantContext<Store, Fact>} Left
 * @typedef {import("perdure/testing").StoreClass<Store>} StoreClass
 * @typedef {"strict" | "relaxed"} Durability
 * @typedef {{ small: number, large: number }} Sizes  bytes of payload; a large one takes several pages
 * @typedef {{ name: string, Store: StoreClass, run: (context: Context, sizes: Sizes) => Promise<void> }} Scenario
 */

const NAME = "store.db";
/** Longer than any fault that ends. */
const ATTEMPTS = 6;

/** One commit after the other, a large one among them; closed, opened again, and not closed. @type {Scenario} */
const oneByOne = {
  name: "one by one",
  Store: SqliteStore,
  async run(context, { small, large }) {
    const exe = newExecution({ id: "a", definition_id: "lane" });
    let store = await opened(context);
    for (const bytes of [small, large, small, small]) await insist(context, store, exe, bytes);
    await store.close();
    store = await opened(context);
    const other = newExecution({ id: "b", definition_id: "lane" });
    for (const one of [exe, other, exe]) await insist(context, store, one, small);
  },
};

/** Commits in flight together share flushes. @type {Scenario} */
const inGroups = {
  name: "in groups",
  Store: AsyncSqliteStore,
  async run(context, { small, large }) {
    const exes = ["a", "b", "c"].map((id) => newExecution({ id, definition_id: "lane" }));
    let store = await opened(context);
    for (const bytes of [small, large]) await Promise.all(exes.map((exe) => insist(context, store, exe, bytes)));
    await store.close();
    store = await opened(context);
    // The second one arrives while the first is flushed.
    const first = insist(context, store, /** @type {any} */ (exes[0]), small);
    await Promise.resolve();
    await Promise.all([first, ...exes.slice(1).map((exe) => insist(context, store, exe, small))]);
  },
};

/** Two processes take turns: the lease changes hands with each commit. @type {Scenario} */
const takingTurns = {
  name: "taking turns",
  Store: SqliteStore,
  async run(context, { small, large }) {
    mount(context.disk);
    const writers = await Promise.all(
      ["a", "b"].map(async (id) => {
        const one = newProcess();
        const store = await runAs(one, () => opened(context));
        return { one, store, exe: newExecution({ id, definition_id: "lane" }) };
      }),
    );
    for (const bytes of [small, large, small]) {
      for (const { one, store, exe } of writers) await runAs(one, () => insist(context, store, exe, bytes));
    }
    await writers[0]?.store.close();
  },
};

export const ALONE = [oneByOne, inGroups];
export const SHARED = [...ALONE, takingTurns];

/** Until it is open, or gives up. @param {Context} context @returns {Promise<Store>} */
async function opened({ open }) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof PerdureError) || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * Commits, again when it is refused; what is refused has not happened (L1).
 * @param {Context} context @param {Store} store @param {import("perdure").Execution} exe @param {number} bytes
 */
async function insist({ acknowledged }, store, exe, bytes) {
  for (let attempt = 1; ; attempt++) {
    const { version } = exe;
    try {
      return await commitOnce(store, exe, bytes, acknowledged);
    } catch (error) {
      if (!(error instanceof PerdureError) || attempt === ATTEMPTS) throw error;
      if (exe.version !== version)
        throw new Error(`${exe.id} counts ${exe.version} after a refusal at ${version}`, { cause: error });
      const found = (await store.load(exe.id))?.version ?? 0;
      if (found !== version)
        throw new Error(`${exe.id} has version ${found} after a refusal at ${version}`, { cause: error });
    }
  }
}

/** An owner file that never got its name. @param {import("perdure/testing").SimulatedDisk} disk @param {string} name */
function isNobodys(disk, name) {
  const bytes = new Uint8Array(100);
  disk.read(disk.find(name) ?? -1, bytes, 0);
  return name.startsWith(`${NAME}-lock.`) && !bytes.includes(0x7b);
}

/**
 * Opened after a crash, the store has what was acknowledged, takes one more commit, and leaves a file that is sound and
 * alone.
 * @param {Left} left @param {Durability} durability
 */
export async function checkWhatIsLeft({ store, disk, acknowledged, crash }, durability) {
  const mayLose = durability === "relaxed" && crash.isPowerCut;
  /** @type {Fact[]} */
  const facts = [...acknowledged];
  if (!mayLose) {
    for (const [id, version] of settle(facts).kept) {
      const found = (await store.load(id))?.version ?? 0;
      if (found < version) throw new Error(`${id} has version ${found}, and ${version} was acknowledged`);
    }
  }
  const after = (await store.load("after")) ?? newExecution({ id: "after", definition_id: "lane" });
  await commitOnce(store, after, 100, (fact) => void facts.push(fact));
  await store.close();
  // What a synchronous store tidies up in OPFS goes on behind its back.
  await new Promise(setImmediate);
  const file = disk.find(NAME);
  if (file === null) throw new Error("the file is gone");
  const bytes = new Uint8Array(disk.size(file));
  disk.read(file, bytes, 0);
  const problems = auditBytes(bytes, facts, { mayLose });
  // An owner file that is empty may be one that is being written; those stay.
  const beside = disk.names.filter((name) => name !== NAME && !isNobodys(disk, name));
  if (beside.length > 0) problems.push(`left beside it: ${beside.join(", ")}`);
  if (problems.length > 0) throw new Error(problems.join("; "));
}
