// What somebody stored who knows the format: every checksum is right, and what is said cannot be. No number is believed
// that nothing stands behind; it is told as damage, and not a byte changed (L7).
import { describe, expect, test, vi } from "vitest";
import { ImageCorrupt } from "../../src/errors.ts";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { checksum, wordsOf } from "./checksum.ts";
import { FRAME_WORDS, seal } from "./frame.ts";
import { decodeHead } from "./head.ts";
import { BLOCK_BYTES, recordKey } from "./layout.ts";
import { encodeParts, newToken } from "./parts.ts";
import { remainsIn } from "./remains.ts";
import { Site } from "./testing/site.ts";
import { at, type Entries, of, place, printed, raw } from "./testing/stored.ts";

const MOST = 2 ** 32 - 1;
const HEAD = { pageSize: FRAME_WORDS, count: FRAME_WORDS + 1, keptFrom: FRAME_WORDS + 2, blocks: FRAME_WORDS + 4 };
const PART = { part: FRAME_WORDS, parts: FRAME_WORDS + 1 };
const DELTA = FRAME_WORDS + 4;
const RECORD = {
  pageSize: DELTA,
  pageCount: DELTA + 1,
  count: DELTA + 2,
  number: DELTA + 3,
  runs: DELTA + 5,
  run: DELTA + 6,
};

/** The value with other words, and the checksum that they should have. */
function forged(value: unknown, change: (words: Uint32Array) => Uint32Array | void): Uint8Array {
  const words = wordsOf((value as Uint8Array).slice());
  return seal((change(words) ?? words).slice());
}

const set =
  (word: number, value: number) =>
  (words: Uint32Array): void => {
    words[word] = value;
  };
const longer = (words: Uint32Array, more: number): Uint32Array => {
  const copy = new Uint32Array(words.length + more);
  copy.set(words);
  return copy;
};

interface Forgery {
  readonly name: string;
  readonly kind: "head" | "base" | "log";
  /** Which of the log; the first record of one part when it is not said. */
  readonly index?: number;
  readonly says: RegExp;
  change(words: Uint32Array): Uint32Array | void;
}

const HEAD_SAYS = /its head contradicts itself/;
const BLOCK_SAYS = /block 0 of its base contradicts itself/;
const RECORD_SAYS = /record \d+ of its log contradicts itself/;

const FORGERIES: readonly Forgery[] = [
  { name: "more blocks than it names", kind: "head", says: HEAD_SAYS, change: set(HEAD.count, MOST) },
  { name: "fewer blocks than it names", kind: "head", says: HEAD_SAYS, change: set(HEAD.count, 0) },
  { name: "pages of no bytes", kind: "head", says: HEAD_SAYS, change: set(HEAD.pageSize, 0) },
  {
    name: "pages of a size that is none",
    kind: "head",
    says: HEAD_SAYS,
    change: set(HEAD.pageSize, 4095),
  },
  {
    name: "records kept from one yet to come",
    kind: "head",
    says: HEAD_SAYS,
    change: set(HEAD.keptFrom, MOST),
  },
  { name: "a block that is yet to be written", kind: "head", says: HEAD_SAYS, change: set(HEAD.blocks, MOST) },
  { name: "a number too large to count on", kind: "head", says: HEAD_SAYS, change: set(7, MOST) },
  {
    ...{ name: "no number and no pages", kind: "base", says: BLOCK_SAYS },
    change: (words) => words.slice(0, FRAME_WORDS),
  },
  {
    ...{ name: "more pages than a block has", kind: "base", says: BLOCK_SAYS },
    change: (words) => longer(words, BLOCK_BYTES / 4),
  },
  {
    ...{ name: "fewer pages than the database has", kind: "base", says: /page 64 is missing/ },
    change: (words) => words.slice(0, words.length - 1024),
  },
  { name: "of no parts", kind: "log", says: /contradicts itself/, change: set(PART.parts, 0) },
  { name: "a part behind its last", kind: "log", says: /contradicts itself/, change: set(PART.part, 1) },
  {
    name: "pages of a size that is none",
    kind: "log",
    says: RECORD_SAYS,
    change: set(RECORD.pageSize, 3),
  },
  { name: "more pages than it lists", kind: "log", says: RECORD_SAYS, change: set(RECORD.count, MOST) },
  { name: "fewer pages than it lists", kind: "log", says: RECORD_SAYS, change: set(RECORD.count, 0) },
  { name: "page 0", kind: "log", says: RECORD_SAYS, change: set(RECORD.number, 0) },
  { name: "a page behind the last", kind: "log", says: RECORD_SAYS, change: set(RECORD.number, MOST) },
  { name: "more runs than it has", kind: "log", says: RECORD_SAYS, change: set(RECORD.runs, MOST) },
  { name: "a run past the end of its page", kind: "log", says: RECORD_SAYS, change: set(RECORD.run, MOST) },
  { name: "words behind its last page", kind: "log", says: RECORD_SAYS, change: (words) => longer(words, 1) },
  {
    ...{ name: "pages that nobody wrote, at the end", kind: "log", index: -1, says: /page \d+ is missing/ },
    change: set(RECORD.pageCount, MOST),
  },
];

const open = (site: Site): Promise<AsyncSqliteStore> => AsyncSqliteStore.create(adapterOn(site.tab(), "store", {}));

/** What a forgery is made of. */
function victim(entries: Entries, kind: Forgery["kind"], index?: number): Entries[number] {
  if (kind !== "log" || index !== undefined) return at(entries, kind, index ?? 0);
  const log = of(entries, kind);
  return log.find(([[, , part]], i) => part === 0 && log[i + 1]![0][2] === 0)!;
}

/** A place whose log ends with a record of one part. */
async function sample(site: Site): Promise<Entries> {
  const entries = await place(site);
  const store = await open(site);
  await store.appendTrace("a", {});
  await store.close();
  const after = await raw(site);
  expect(after.length).toBe(entries.length + 1);
  return after;
}

describe("L7 what cannot be is told, and left as it is", () => {
  test.each(FORGERIES)("$kind: $name", async ({ kind, index, says, change }) => {
    const site = new Site();
    const [key, value] = victim(await sample(site), kind, index);
    const before = await raw(site, (store) => store.put(forged(value, change), key));
    const error: unknown = await open(site).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ImageCorrupt);
    expect((error as ImageCorrupt).message).toMatch(says);
    expect(printed(await raw(site))).toEqual(printed(before));
  });

  test.each([
    ["record", /lies elsewhere/],
    ["part", /is missing/],
  ])("log: the last %s under another's number", async (what, says) => {
    const site = new Site();
    const entries = what === "record" ? await sample(site) : await place(site);
    const [[, sequence = 0, part = 0], value] = at(entries, "log", -1);
    expect(part > 0).toBe(what === "part");
    const before = await raw(site, (store) => {
      store.delete(recordKey(sequence, part));
      store.put(value, recordKey(sequence + 1, part));
    });
    await expect(open(site)).rejects.toThrow(says);
    expect(printed(await raw(site))).toEqual(printed(before));
  });
});

test("L6 pages that a record says there were, and a later one does not know, cost nothing", async () => {
  const site = new Site();
  const entries = await sample(site);
  const [key, value] = victim(entries, "log");
  await raw(site, (store) => store.put(forged(value, set(RECORD.pageCount, MOST)), key));
  const store = await open(site);
  expect((await store.load("f"))?.version).toBe(1);
  expect(await store.verify()).toEqual([]);
  await store.close();
});

describe("L6 pages of which a record says only that they are there", () => {
  const COUNT = 200_000;
  /** 2.4 MB that would make 800 MB. */
  const zeros = (count: number) => (words: Uint32Array) => {
    const first = words[RECORD.pageCount]! + 1;
    const copy = new Uint32Array(words.length + count * 3);
    copy.set(words);
    copy[RECORD.pageCount] = first + count - 1;
    copy[RECORD.count] = words[RECORD.count]! + count;
    const sum = checksum(new Uint32Array(1024));
    for (let i = 0; i < count; i++) copy.set([first + i, sum, 0], words.length + i * 3);
    return copy;
  };
  /** Bytes that were asked for while it ran. */
  const bytesOf = async (run: () => Promise<unknown>): Promise<number> => {
    let bytes = 0;
    const construct: ProxyHandler<typeof Uint8Array>["construct"] = (target, given, newTarget) => {
      if (typeof given[0] === "number") bytes += given[0];
      return Reflect.construct(target, given, newTarget) as object;
    };
    vi.stubGlobal("Uint8Array", new Proxy(Uint8Array, { construct }));
    await run().finally(() => vi.unstubAllGlobals());
    return bytes;
  };

  test("L7 are damage where the database's header does not count them, and take no memory", async () => {
    const site = new Site();
    const [key, value] = at(await sample(site), "log", -1);
    const before = await raw(site, (store) => store.put(forged(value, zeros(COUNT)), key));
    let error: unknown;
    const bytes = await bytesOf(() => open(site).catch((thrown: unknown) => (error = thrown)));
    expect(error).toBeInstanceOf(ImageCorrupt);
    expect((error as ImageCorrupt).message).toMatch(/page \d+ is missing/);
    expect(bytes).toBeLessThan(20_000_000);
    expect(printed(await raw(site))).toEqual(printed(before));
  });

  test("L2 are pages where the header counts them", async () => {
    const site = new Site();
    await place(site);
    const store = await open(site);
    const path = "p".repeat(600_000);
    const timers = [
      { op: "schedule" as const, path, fire_at: 1 },
      { op: "cancel" as const, path },
    ];
    await store.commit((await store.load("a"))!, { timers });
    const again = await open(site);
    expect(await again.verify()).toEqual([]);
    expect(await again.exportDatabase()).toEqual(await store.exportDatabase());
    await store.close();
    await again.close();
  });
});

test("L6 L7 salvage believes no page number that nothing stands behind", async () => {
  const site = new Site();
  const [key, value] = at(await sample(site), "log", -1);
  const sound = await remainsIn(site.tab(), "store");
  const far = (words: Uint32Array): Uint32Array => {
    const copy = words.slice(0, RECORD.number + 3);
    copy.set([MOST, 1, MOST, checksum(new Uint32Array(1024)), 0], RECORD.pageCount);
    return copy;
  };
  await raw(site, (store) => store.put(forged(value, far), key));
  const { pageCount, problems } = await remainsIn(site.tab(), "store");
  expect(pageCount).toBe(sound.pageCount);
  expect(problems.map(({ problem }) => problem)).toEqual([`pages ${pageCount + 1} to ${MOST} are missing`]);
});

test("L6 L7 pages that nobody wrote are not taken from another writer either", async () => {
  const site = new Site();
  const entries = await sample(site);
  const store = await open(site);
  const { life } = decodeHead(at(entries, "head", 0)[1], "store");
  const sequence = of(entries, "log").at(-1)![0][1]! + 1;
  const [value] = encodeParts(life, sequence, newToken(), Uint32Array.of(4096, MOST, 0));
  await raw(site, (inside) => inside.put(value, recordKey(sequence, 0)));
  await expect(store.load("a")).rejects.toThrow(/page \d+ is missing/);
  await store.close();
});
