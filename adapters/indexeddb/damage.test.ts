// What is stored, damaged: each value changed, cut, exchanged or taken away. A typed error that says where, and not a
// byte changed (L7).
import { IDBKeyRange } from "fake-indexeddb";
import { describe, expect, test } from "vitest";
import { ImageCorrupt } from "../../src/errors.ts";
import { newExecution } from "../../src/records/codec.ts";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { FRAME_WORDS } from "./frame.ts";
import { Site } from "./testing/site.ts";

type Key = [string, ...number[]];
type Entries = [Key, unknown][];

const asked = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });

/** Everything that is stored, in the order of keys; `change` may put and delete. */
async function raw(site: Site, change: (store: IDBObjectStore) => void = () => {}): Promise<Entries> {
  const db = await asked(site.indexedDB.open("perdure:store", 1));
  const store = db.transaction("perdure", "readwrite").objectStore("perdure");
  change(store);
  const everything = IDBKeyRange.lowerBound([]);
  const [keys, values] = await Promise.all([asked(store.getAllKeys(everything)), asked(store.getAll(everything))]);
  db.close();
  return keys.map((key, i): [Key, unknown] => [key as Key, values[i]]);
}

/** Comparing bytes one by one takes the test runner long. */
const printed = (entries: Entries): string[] =>
  entries.map(([key, value]) => {
    const bytes = ArrayBuffer.isView(value) ? Buffer.from(value.buffer).toString("base64") : JSON.stringify(value);
    return `${key.join(" ")}: ${bytes}`;
  });

/** A place with blocks in its base, records behind them, and one record of several parts. */
async function place(site: Site): Promise<Entries> {
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
const flipped = (value: unknown, word: number): Uint8Array => {
  const copy = (value as Uint8Array).slice();
  copy[word * 4]! ^= 1;
  return copy;
};

interface Damage {
  readonly name: string;
  readonly says: RegExp;
  readonly part: "base" | "log";
  damage(store: IDBObjectStore, entries: Entries): void;
}

const of = (entries: Entries, kind: string): Entries => entries.filter(([[first]]) => first === kind);
const at = (entries: Entries, kind: string, index: number): [Key, unknown] => of(entries, kind).at(index)!;

const DAMAGES: readonly Damage[] = [
  ...(["head", "base", "log"] as const).flatMap((kind): Damage[] => {
    const part = kind === "log" ? "log" : "base";
    const what = { head: "its head", base: "block 0 of its base", log: "a record of its log after number \\d+" }[kind];
    const change = (name: string, says: string, changed: (value: unknown) => unknown): Damage => ({
      name: `${kind}: ${name}`,
      says: new RegExp(`${what} ${says}`),
      part,
      damage(store, entries) {
        const [key, value] = at(entries, kind, 0);
        store.put(changed(value), key);
      },
    });
    return [
      change("a bit of the body", "does not match its checksum", (value) => flipped(value, FRAME_WORDS + 2)),
      change("a bit of the checksum", "does not match its checksum", (value) => flipped(value, 0)),
      change("a bit of its kind", "is something else", (value) => flipped(value, 1)),
      change("cut in the middle", "does not match", (value) => (value as Uint8Array).slice(0, 48)),
      change("cut short", "is cut off", (value) => (value as Uint8Array).slice(0, 3)),
      change("something else", "is something else", () => ({ format: 1 })),
    ];
  }),
  {
    name: "the head is gone",
    says: /its head is missing/,
    part: "base",
    damage: (store, entries) => store.delete(at(entries, "head", 0)[0]),
  },
  {
    name: "the first block is gone",
    says: /block 0 of its base is not the one/,
    part: "base",
    damage: (store, entries) => store.delete(at(entries, "base", 0)[0]),
  },
  {
    name: "the last block is gone",
    says: /block 1 of its base is missing/,
    part: "base",
    damage: (store, entries) => store.delete(at(entries, "base", -1)[0]),
  },
  {
    name: "two blocks are exchanged",
    says: /block 0 of its base is not the one/,
    part: "base",
    damage(store, entries) {
      const [[a, one], [b, other]] = [at(entries, "base", 0), at(entries, "base", 1)];
      store.put(other, a);
      store.put(one, b);
    },
  },
  {
    name: "a record in the middle is gone",
    says: /part \d+ of record \d+ of its log is missing/,
    part: "log",
    damage: (store, entries) => store.delete(at(entries, "log", 1)[0]),
  },
  {
    name: "the last part of a record is gone",
    says: /part 2 of record \d+ of its log is missing/,
    part: "log",
    damage: (store, entries) => store.delete(at(entries, "log", -1)[0]),
  },
  {
    name: "the first part of a record is gone",
    says: /part 0 of record \d+ of its log is missing/,
    part: "log",
    damage: (store, entries) => store.delete(of(entries, "log").findLast(([key]) => key[2] === 0)![0]),
  },
  {
    name: "a record under another's number",
    says: /part \d+ of record \d+ of its log is missing/,
    part: "log",
    damage: (store, entries) => store.put(at(entries, "log", 2)[1], at(entries, "log", 1)[0]),
  },
  {
    name: "all records are gone",
    says: /record \d+ of its log is missing/,
    part: "log",
    damage(store, entries) {
      for (const [key] of of(entries, "log")) store.delete(key);
    },
  },
];

describe("L7 damage is told and left as it is", () => {
  test.each(DAMAGES)("$name", async ({ says, part, damage }) => {
    const site = new Site();
    const sound = await place(site);
    expect(of(sound, "base").length).toBeGreaterThan(1);
    expect(of(sound, "log").length).toBeGreaterThan(4);
    const before = await raw(site, (store) => damage(store, sound));
    const error: unknown = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", {})).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ImageCorrupt);
    expect((error as ImageCorrupt).message).toMatch(says);
    expect((error as ImageCorrupt).where?.part).toBe(part);
    expect(printed(await raw(site))).toEqual(printed(before));
  });

  test("a block and a head of another database are not taken for ours", async () => {
    const [site, other] = [new Site(), new Site()];
    const [ours, theirs] = [await place(site), await place(other)];
    await raw(site, (store) => store.put(at(theirs, "base", 0)[1], at(ours, "base", 0)[0]));
    await expect(AsyncSqliteStore.create(adapterOn(site.tab(), "store", {}))).rejects.toThrow(/another database/);
  });

  test("damage done behind an open store: the next look finds it, and verify says so", async () => {
    const site = new Site();
    const sound = await place(site);
    const store = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", {}));
    const [key, value] = at(sound, "base", 0);
    await raw(site, (inside) => inside.put(flipped(value, 100), key));
    const problems = await store.verify();
    expect(problems).toMatchObject([{ kind: "storage", where: "base" }]);
    expect((await store.load("a"))?.version, "memory has it").toBe(1);
    await raw(site, (inside) => inside.put(value, key));
    expect(await store.verify()).toEqual([]);
    await store.close();
  });
});
