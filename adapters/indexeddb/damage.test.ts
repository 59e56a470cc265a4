// What is stored, damaged: each value changed, cut, exchanged or taken away. A typed error that says where, and not a
// byte changed (L7).
import { describe, expect, test } from "vitest";
import { ImageCorrupt } from "../../src/errors.ts";
import { newExecution } from "../../src/records/codec.ts";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { FRAME_WORDS } from "./frame.ts";
import { Site } from "./testing/site.ts";
import { at, type Entries, flipped, of, place, printed, raw } from "./testing/stored.ts";

interface Damage {
  readonly name: string;
  readonly says: RegExp;
  readonly part: "base" | "log";
  damage(store: IDBObjectStore, entries: Entries): void;
}

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

  test("the log goes back behind an open store: told, and what was acknowledged is not forgotten without a word", async () => {
    const site = new Site();
    await place(site);
    const store = await AsyncSqliteStore.create(adapterOn(site.tab(), "store", {}));
    const before = await raw(site);
    await store.save(newExecution({ id: "late", definition_id: "order" }));
    await raw(site, (inside) => {
      inside.clear();
      for (const [key, value] of before) inside.put(value, key);
    });
    const save = store.save(newExecution({ id: "later", definition_id: "order" }));
    await expect(save).rejects.toMatchObject({ code: "image-corrupt", where: { part: "log" } });
    await store.close();
  });
});
