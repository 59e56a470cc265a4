// What a test's site has stored, as it lies in IndexedDB: looked at and damaged behind the back of every store.
import { IDBKeyRange } from "fake-indexeddb";
import { newExecution } from "../../../src/records/codec.ts";
import { AsyncSqliteStore } from "../../../src/store/async-sqlite-store.ts";
import { adapterOn } from "../adapter.ts";
import type { Site } from "./site.ts";

export type Key = [string, ...number[]];
export type Entries = [Key, unknown][];

const asked = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });

/** Everything that is stored, in the order of keys; `change` may put and delete. */
export async function raw(site: Site, change: (store: IDBObjectStore) => void = () => {}): Promise<Entries> {
  const db = await asked(site.indexedDB.open("perdure:store", 1));
  const store = db.transaction("perdure", "readwrite").objectStore("perdure");
  change(store);
  const everything = IDBKeyRange.lowerBound([]);
  const [keys, values] = await Promise.all([asked(store.getAllKeys(everything)), asked(store.getAll(everything))]);
  db.close();
  return keys.map((key, i): [Key, unknown] => [key as Key, values[i]]);
}

/** Comparing bytes one by one takes the test runner long. */
export const printed = (entries: Entries): string[] =>
  entries.map(([key, value]) => {
    const bytes = ArrayBuffer.isView(value) ? Buffer.from(value.buffer).toString("base64") : JSON.stringify(value);
    return `${key.join(" ")}: ${bytes}`;
  });

/** A place with blocks in its base, records behind them, and one record of several parts. */
export async function place(site: Site): Promise<Entries> {
  const save = async (foldBytes: number, ids: readonly string[], bytes: number): Promise<void> => {
    const store = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", { foldBytes }));
    for (const id of ids) {
      // Text that is not all zeros, and long enough for two blocks.
      const text = Array.from({ length: bytes / 8 }, (_, i) => `${id}${i * 7919}`.padEnd(8).slice(0, 8)).join("");
      await store.save(newExecution({ definition_id: "order", id, context: { text } }));
    }
    await store.close();
  };
  await save(1, ["a", "b", "c"], 150_000);
  await save(10_000_000, ["d", "e"], 1000);
  await save(10_000_000, ["f"], 150_000);
  return raw(site);
}

/** Everything as it is, with one value changed. */
export const flipped = (value: unknown, word: number): Uint8Array => {
  const copy = (value as Uint8Array).slice();
  copy[word * 4]! ^= 1;
  return copy;
};

/** The values of one kind, and one of them. */
export const of = (entries: Entries, kind: string): Entries => entries.filter(([[first]]) => first === kind);
export const at = (entries: Entries, kind: string, index: number): [Key, unknown] => of(entries, kind).at(index)!;

/** Makes a value one that the browser cannot read, as when the file is gone that it was kept in: the request fails. */
export async function unread(site: Site, key: Key): Promise<void> {
  const db = await asked(site.indexedDB.open("perdure:store", 1));
  const { rawObjectStores } = (db as unknown as { _rawDatabase: { rawObjectStores: Map<string, RawStore> } })
    ._rawDatabase;
  // What cannot be cloned cannot be handed out.
  rawObjectStores.get("perdure")!.records.get(key).value = () => {};
  db.close();
}

/** fake-indexeddb's own. */
interface RawStore {
  readonly records: { get(key: Key): { value: unknown } };
}
