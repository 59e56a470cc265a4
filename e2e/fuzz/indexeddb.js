// Cases of places in IndexedDB that somebody damaged on purpose: opened, read, verified, salvaged, written to. A page's
// IndexedDB is fake-indexeddb here; what is stored is what counts.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import { AsyncSqliteStore, newExecution } from "perdure";
import { importDatabase, indexedDbAdapter } from "perdure/indexeddb";
import { answer, claim, readEverything, writeSome } from "./look.js";
import { mutateValues } from "./mutate-values.js";

/** @typedef {import("./chance.js").Chance} Chance */
/** @typedef {import("./mutate-values.js").Entry} Entry */
/**
 * @typedef {object} SoundPlace
 * @property {Entry[]} entries
 * @property {Entry[]} past  values that were stored before
 * @property {Set<string>} states  all that the place was ever in, as far as its log goes back
 * @property {Set<string>} executions  every Execution that was ever committed
 */

/** As a page has it: there `salvage` takes the name of a place in IndexedDB. @type {typeof import("perdure")} */
const { salvage } = await import(new URL("../../dist/browser.js", import.meta.url).href);

const NAME = "store";
const RESCUED = "rescued";
const OBJECT_STORE = "perdure";
const VERSION = 1;

/** A site of its own for each case. */
function newSite() {
  const factory = new IDBFactory();
  const locks = {
    // One store at a time: nobody waits.
    request: (/** @type {unknown[]} */ ...given) => /** @type {(lock: object) => unknown} */ (given.at(-1))({}),
  };
  for (const [name, value] of Object.entries({ indexedDB: factory, IDBKeyRange, navigator: { locks } })) {
    Object.defineProperty(globalThis, name, { value, configurable: true });
  }
  return factory;
}

/** @param {IDBRequest} request */
const asked = (request) =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });

/** @param {IDBFactory} factory */
async function connect(factory) {
  return /** @type {IDBDatabase} */ (await asked(factory.open(`perdure:${NAME}`)));
}

/** Everything in one object store. @param {IDBDatabase} db @param {string} name @returns {Promise<Entry[]>} */
async function entriesOf(db, name) {
  const store = db.transaction(name).objectStore(name);
  const [keys, values] = await Promise.all([asked(store.getAllKeys()), asked(store.getAll())]);
  return keys.map((/** @type {IDBValidKey} */ key, /** @type {number} */ i) => ({ key, value: values[i] }));
}

/** All that is stored. @param {IDBFactory} factory */
async function contents(factory) {
  const db = await connect(factory);
  const stores = [];
  for (const name of db.objectStoreNames) stores.push([name, await entriesOf(db, name)]);
  const { version } = db;
  db.close();
  return { version, stores };
}

/** Databases that are not laid out as ours are. @type {Readonly<Record<string, (db: IDBDatabase) => void>>} */
const OTHER_LAYOUTS = {
  "no object store": () => {},
  "another object store": (db) => void db.createObjectStore("keyval").put(1, "head"),
  "keys in the values": (db) => void db.createObjectStore(OBJECT_STORE, { keyPath: "__proto__.key" }),
  "keys made up": (db) => void db.createObjectStore(OBJECT_STORE, { autoIncrement: true }),
};

/** @param {IDBFactory} factory @param {readonly Entry[]} entries @param {(db: IDBDatabase) => void} [layout] */
async function lay(factory, entries, layout, version = VERSION) {
  const request = factory.open(`perdure:${NAME}`, version);
  request.addEventListener("upgradeneeded", () => {
    if (layout !== undefined) return layout(request.result);
    const store = request.result.createObjectStore(OBJECT_STORE);
    for (const { key, value } of entries) store.put(value, key);
  });
  (await asked(request)).close();
}

/** @param {number} [foldBytes] */
const open = (foldBytes, name = NAME) =>
  AsyncSqliteStore.create(indexedDbAdapter(name, foldBytes === undefined ? {} : { foldBytes }));

/** @param {AsyncSqliteStore} store */
const stateOf = async (store) =>
  createHash("sha1")
    .update(await store.exportDatabase())
    .digest("hex");

/** Saves some Executions, each with all that a commit can have. @param {number} foldBytes */
const commits =
  (foldBytes, /** @type {readonly number[]} */ numbers, bytes = 300) =>
  async () => {
    const store = await open(foldBytes);
    for (const i of numbers) {
      const text = Array.from({ length: bytes / 8 }, (_, n) => `${i}${n * 7919}`.padEnd(8).slice(0, 8)).join("");
      const exe = newExecution({ id: `exe-${i}`, definition_id: "order", context: { text } });
      const emits = [{ target_id: `to-${i}`, event: { id: `e-${i}`, kind: "K", data: { i } } }];
      const timers = /** @type {const} */ ([{ op: "schedule", path: "P", fire_at: i }]);
      await store.commit(exe, {
        emits,
        timers,
        spawns: [{ child_id: `c-${i}` }],
        processedEventId: "event",
        trace: { i },
      });
    }
    await store.close();
  };

/** @param {readonly (() => Promise<unknown>)[]} steps @returns {Promise<SoundPlace>} */
async function made(steps) {
  const factory = newSite();
  /** @type {Entry[]} */
  const past = [];
  /** @type {Entry[]} */
  let entries = [];
  for (const step of steps) {
    past.push(...entries);
    await step();
    const db = await connect(factory);
    entries = await entriesOf(db, OBJECT_STORE);
    db.close();
  }
  const store = await open();
  const executions = new Set();
  for (const { id } of (await store.listExecutions()).items) executions.add(JSON.stringify(await store.load(id)));
  await store.close();
  return { entries, past, states: await statesOf(entries), executions };
}

/** What a store finds when the last records are not there: it was so once. @param {readonly Entry[]} entries */
async function statesOf(entries) {
  const sequenceOf = (/** @type {Entry} */ { key }) => (Array.isArray(key) && key[0] === "log" ? Number(key[1]) : -1);
  const states = new Set();
  for (let last = Math.max(...entries.map(sequenceOf)); ; last--) {
    await lay(
      newSite(),
      entries.filter((entry) => sequenceOf(entry) <= last),
    );
    const { value: store } = await answer(() => open());
    if (store === null) return states;
    states.add(await stateOf(store));
    await store.close();
  }
}

/** Places as they should be: folded with records behind, never folded, and laid down from a file. */
export async function soundPlaces() {
  const database = readFileSync(fileURLToPath(new URL("../../src/contract/golden/checkpointed.db", import.meta.url)));
  const never = 100_000_000;
  const places = [
    await made([
      commits(1, [1, 2, 3], 90_000),
      commits(1, [4, 5]),
      commits(never, [6, 7, 8]),
      commits(never, [9], 90_000),
    ]),
    await made([commits(never, [1, 2]), commits(never, [3, 4, 5, 6])]),
    await made([() => importDatabase(NAME, { database: new Uint8Array(database), wal: null }), commits(never, [1, 2])]),
  ];
  for (const { states, executions } of places) {
    claim(states.size > 1 && executions.size > 1, "a place was in several states");
  }
  return places;
}

/** Does all that can be done with such a place. @param {readonly SoundPlace[]} places @param {Chance} chance */
export async function tryPlace(places, chance) {
  const factory = newSite();
  const place = chance.pick(places);
  const past = [...place.past, ...chance.pick(places).entries];
  const { entries, isForged } = mutateValues(place.entries, past, chance);
  const layout = chance.maybe(0.02) ? chance.pick(Object.values(OTHER_LAYOUTS)) : undefined;
  await lay(factory, entries, layout, chance.maybe(0.01) ? chance.pick([2, 2 ** 53 - 1]) : VERSION);
  const before = await contents(factory);
  const isUnchanged = async () => isDeepStrictEqual(await contents(factory), before);
  const { value: report, error: failed } = await answer(() => salvage(NAME, indexedDbAdapter(RESCUED)));
  claim(await isUnchanged(), "salvage leaves its source as it is");
  if (report === null) {
    const isForeign = failed?.code === "not-a-database" || failed?.code === "newer-format";
    claim(isForeign, `salvage gives a report: ${failed?.message}`);
  } else await lookAtRescued(isForged ? null : place.executions);
  const opened = await answer(() => open(chance.pick([1, 20_000, 100_000_000])));
  if (opened.value === null) {
    const code = opened.error?.code;
    claim(await isUnchanged(), `what is refused stays as it is (${code})`);
    claim(
      code !== "open-timeout" && code !== "store-busy",
      `what cannot be opened is refused, not waited for (${code})`,
    );
    return;
  }
  const store = opened.value;
  let left;
  try {
    if (!isForged) claim(place.states.has(await stateOf(store)), "what is opened was once committed");
    await readEverything(store);
    claim(Array.isArray(await store.verify()), "verify gives a list");
    if (chance.maybe(0.5)) await writeSome(store);
    left = await shownBy(store);
  } finally {
    await store.close();
  }
  const { value: again, error: refusal } = await answer(() => open());
  if (again === null) throw new Error(`not so: what was opened opens again (${refusal?.message})`);
  try {
    claim(isDeepStrictEqual(await shownBy(again), left), "what is opened again is as it was left");
  } finally {
    await again.close();
  }
}

/** All that a store shows: its bytes, and how it answers. @param {AsyncSqliteStore} store */
async function shownBy(store) {
  const errors = (await readEverything(store)).map(({ message }) => message);
  return { errors, state: (await answer(() => stateOf(store))).value, problems: await store.verify() };
}

/** What was salvaged is sound, and made up of what was there. @param {ReadonlySet<string> | null} known */
async function lookAtRescued(known) {
  const store = await open(undefined, RESCUED);
  const errors = await readEverything(store);
  claim(
    errors.every(({ code }) => code === "record-invalid"),
    "what was salvaged can be read",
  );
  const problems = await store.verify();
  claim(
    problems.every(({ kind }) => kind !== "sqlite" && kind !== "storage"),
    "what was salvaged is sound",
  );
  for (const { id } of known === null ? [] : (await store.listExecutions()).items) {
    claim(known?.has(JSON.stringify(await store.load(id))) === true, "what was salvaged was once committed");
  }
  await store.close();
}
