// A log that is written over in place while stores have it open: cut short, or its tail zeroed. What was acknowledged is
// put back from memory, or the store that holds it refuses; it is never gone quietly (L7).
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { SqliteStore } from "../node.ts";
import { endOf, startLog } from "../wal/wal.ts";
import { fileAdapter } from "./index.ts";
import { contents, sample, temporaryFolder } from "./testing.ts";

function place(): string {
  return path.join(temporaryFolder(onTestFinished), "a.db");
}

/** The files as they are now, as a kill would leave them. */
function copyOf(file: string): string {
  const copy = place();
  for (const suffix of ["", "-wal"]) {
    if (fs.existsSync(file + suffix)) fs.copyFileSync(file + suffix, copy + suffix);
  }
  return copy;
}

/** What somebody finds who opens the files as they are now. */
async function stored(file: string): Promise<Record<string, number>> {
  const copy = copyOf(file);
  const store = await SqliteStore.create(copy, { mustExist: true });
  const found = versions(store);
  expect(store.verify()).toEqual([]);
  store.close();
  return found;
}

function versions(store: SqliteStore): Record<string, number> {
  return Object.fromEntries(store.listExecutions().items.map(({ id, version }) => [id, version]));
}

/** Frames in a log, as far as their salts are those of its header. */
function framesIn(file: string): number {
  const log = fs.readFileSync(`${file}-wal`);
  const salts = log.subarray(16, 24);
  let frames = 0;
  while (log.subarray(at(frames) + 8, at(frames) + 16).equals(salts)) frames++;
  return frames;
}

const at = (frames: number): number => endOf({ ...startLog(4096, 0, 0, 0), frames });

interface Damage {
  readonly name: string;
  /** Leaves the first so many bytes. */
  readonly cut: (log: string, bytes: number) => void;
}

const DAMAGES: readonly Damage[] = [
  { name: "cut short", cut: (log, bytes) => fs.truncateSync(log, bytes) },
  {
    name: "zeroed at its end",
    cut(log, bytes) {
      const whole = fs.readFileSync(log);
      fs.writeFileSync(log, whole.fill(0, bytes), { flag: "r+" });
    },
  },
];

const refusal = expect.objectContaining({ name: "StorageRefused", code: "storage-replaced" });

describe.each(DAMAGES)("a log $name in place", ({ cut }) => {
  test.each([
    { where: "to nothing", bytes: () => 0 },
    { where: "behind its header", bytes: () => at(0) },
    { where: "in its last frame's header", bytes: (frames: number) => at(frames - 1) + 10 },
    { where: "in its last frame", bytes: (frames: number) => at(frames - 1) },
    { where: "between frames", bytes: (frames: number) => at(frames - 2) },
  ])("L2 L7 $where: what its only store acknowledged is put back by its next commit", async ({ bytes }) => {
    const file = place();
    const store = await SqliteStore.create(file);
    const one = sample("one");
    for (let i = 0; i < 3; i++) store.save(one);
    store.save(sample("two"));
    cut(`${file}-wal`, bytes(framesIn(file)));
    store.save(one);
    expect(await stored(file)).toEqual({ one: 4, two: 1 });
    store.close();
    expect(await stored(file)).toEqual({ one: 4, two: 1 });
  });

  test("L2 L7 between transactions of others: put back like its own", async () => {
    const first = place();
    const killed = await SqliteStore.create(first);
    const ends = ["one", "two"].map((id) => {
      killed.save(sample(id));
      return framesIn(first);
    });
    const files = [copyOf(first), copyOf(first), copyOf(first)];
    killed.close();
    for (const [i, file] of files.entries()) {
      const [store, other] = [await SqliteStore.create(file), await SqliteStore.create(file)];
      for (const id of ["three", "four"]) {
        other.save(sample(id));
        ends[2] ??= framesIn(file);
      }
      expect(versions(store)).toEqual({ four: 1, one: 1, three: 1, two: 1 });
      cut(`${file}-wal`, at(ends[i]!));
      store.save(sample("five"));
      expect(await stored(file)).toEqual({ five: 1, four: 1, one: 1, three: 1, two: 1 });
      store.close();
      other.close();
    }
  });

  test("L2 L7 between the last look and the write behind it: the commit is not written behind a hole", async () => {
    const file = place();
    const inner = fileAdapter(file);
    let cutTo = 0;
    const store = await SqliteStore.create({
      ...inner,
      append(delta, after) {
        if (cutTo > 0) cut(`${file}-wal`, cutTo);
        cutTo = 0;
        return inner.append(delta, after);
      },
    });
    for (const id of ["one", "two"]) store.save(sample(id));
    cutTo = at(framesIn(file) - 1);
    store.save(sample("three"));
    expect(await stored(file)).toEqual({ one: 1, three: 1, two: 1 });
    store.close();
  });

  test("L2 as often as it happens, after another store had written before", async () => {
    const file = place();
    const [other, store] = [await SqliteStore.create(file), await SqliteStore.create(file)];
    const one = sample("one");
    for (let i = 0; i < 5; i++) other.save(one);
    const two = sample("two");
    store.save(two);
    for (let i = 0; i < 10; i++) {
      cut(`${file}-wal`, 0);
      store.save(two);
    }
    expect(await stored(file)).toEqual({ one: 5, two: 11 });
    store.close();
    other.close();
  });

  test("L2 L7 and by its close, though nothing was asked of it since", async () => {
    const file = place();
    const store = await SqliteStore.create(file);
    store.save(sample("one"));
    cut(`${file}-wal`, at(1));
    store.close();
    expect(await stored(file)).toEqual({ one: 1 });
    expect(fs.readdirSync(path.dirname(file))).toEqual(["a.db"]);
  });

  test("L2 L7 a store that leaves before others puts back what they have not seen", async () => {
    const file = place();
    const [a, b] = [await SqliteStore.create(file), await SqliteStore.create(file)];
    a.save(sample("one"));
    b.save(sample("two"));
    cut(`${file}-wal`, at(0));
    b.close();
    expect(versions(a)).toEqual({ one: 1, two: 1 });
    a.close();
    expect(await stored(file)).toEqual({ one: 1, two: 1 });
  });

  test.each([0, 1, 8])(
    "L2 L4 of two that have the same, one puts it back and the other follows (cut to %i)",
    async (frames) => {
      const file = place();
      const [a, b] = [await SqliteStore.create(file), await SqliteStore.create(file)];
      a.save(sample("one"));
      b.save(sample("two"));
      expect(versions(a)).toEqual({ one: 1, two: 1 });
      cut(`${file}-wal`, at(frames));
      a.save(sample("three"));
      expect(versions(b)).toEqual({ one: 1, three: 1, two: 1 });
      b.save(sample("four"));
      expect(versions(a)).toEqual({ four: 1, one: 1, three: 1, two: 1 });
      a.close();
      b.close();
      expect(await stored(file)).toEqual({ four: 1, one: 1, three: 1, two: 1 });
    },
  );

  test.each([
    { left: "all that it knows", kept: 0 },
    { left: "less", kept: -1 },
    { left: "nothing", kept: -Infinity },
  ])("L4 L7 with $left left: who is behind writes nothing, until who is not puts it back", async ({ kept }) => {
    const file = place();
    const [a, b] = [await SqliteStore.create(file), await SqliteStore.create(file)];
    a.save(sample("one"));
    const frames = framesIn(file);
    b.save(sample("acknowledged"));
    cut(`${file}-wal`, Math.max(0, at(frames + kept)));
    const before = contents(path.dirname(file));
    const two = sample("two");
    for (let i = 0; i < 2; i++) expect(() => a.save(two)).toThrow(refusal);
    const after = contents(path.dirname(file));
    for (const name of ["a.db", "a.db-wal"]) expect(after[name]).toBe(before[name]);
    expect(b.load("acknowledged")?.version).toBe(1);
    a.save(two);
    b.close();
    a.close();
    expect(await stored(file)).toEqual({ acknowledged: 1, one: 1, two: 1 });
  });

  test("L4 L7 a third one in between does not make it forgotten", async () => {
    const file = place();
    const [a, b, c] = [await SqliteStore.create(file), await SqliteStore.create(file), await SqliteStore.create(file)];
    a.save(sample("one"));
    const frames = framesIn(file);
    expect(versions(c)).toEqual({ one: 1 });
    b.save(sample("acknowledged"));
    cut(`${file}-wal`, at(frames));
    expect(() => c.save(sample("three"))).toThrow(refusal);
    expect(() => a.save(sample("four"))).toThrow(refusal);
    c.close();
    a.close();
    b.close();
    expect(await stored(file)).toEqual({ acknowledged: 1, one: 1 });
  });

  test.each([
    { left: "all that the other one knew", kept: 0, commits: [1, 3] },
    { left: "less than the other one knew", kept: -1, commits: [1, 3, 12] },
    { left: "nothing", kept: -Infinity, commits: [1, 3, 12] },
  ])(
    "L4 L7 with $left left, and the lock files too: after another one wrote without it, who holds a commit that is gone refuses",
    async (row) => {
      for (const commits of row.commits) {
        const file = place();
        // Twelve commits are more than one log.
        const [a, b] = [
          await SqliteStore.create(fileAdapter(file, { checkpointFrames: 20 })),
          await SqliteStore.create(fileAdapter(file, { checkpointFrames: 20 })),
        ];
        a.save(sample("one"));
        const frames = framesIn(file);
        b.save(sample("acknowledged"));
        cut(`${file}-wal`, Math.max(0, at(frames + row.kept)));
        for (const name of fs.readdirSync(path.dirname(file))) {
          if (name.includes("-lock")) fs.rmSync(path.join(path.dirname(file), name));
        }
        const other = sample("other");
        for (let i = 0; i < commits; i++) a.save(other);
        expect(() => b.load("acknowledged")).toThrow(refusal);
        expect(() => b.save(sample("two"))).toThrow(refusal);
        b.close();
        a.close();
        expect(await stored(file)).toEqual({ one: 1, other: commits });
      }
    },
  );

  test("L2 L4 one that is behind does not take the cut for the end, and gets the rest from the one that has it", async () => {
    const file = place();
    const [a, b] = [await SqliteStore.create(file), await SqliteStore.create(file)];
    a.save(sample("one"));
    b.save(sample("two"));
    const frames = framesIn(file);
    b.save(sample("three"));
    cut(`${file}-wal`, at(frames));
    expect(() => versions(a)).toThrow(refusal);
    expect(versions(b)).toEqual({ one: 1, three: 1, two: 1 });
    expect(versions(a)).toEqual({ one: 1, three: 1, two: 1 });
    a.save(sample("four"));
    a.close();
    b.close();
    expect(await stored(file)).toEqual({ four: 1, one: 1, three: 1, two: 1 });
  });
});

describe("a log taken away", () => {
  test.each(["removed", "cut to nothing"])("L2 L7 %s: its store's close puts it back", async (how) => {
    const file = place();
    const store = await SqliteStore.create(file);
    store.save(sample("one"));
    if (how === "removed") fs.rmSync(`${file}-wal`);
    else fs.truncateSync(`${file}-wal`, 0);
    store.close();
    expect(await stored(file)).toEqual({ one: 1 });
  });
});
