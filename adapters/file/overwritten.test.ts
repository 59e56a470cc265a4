// Another database copied over an open one in place, as `cp` does it, or the file cut in place: nothing is written into
// what is there now, the log is kept, and the store says so (L7).
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AsyncSqliteStore, SqliteStore } from "../node.ts";
import { frameBytes, WAL_HEADER_BYTES } from "../wal/wal.ts";
import { asyncFileAdapter, fileAdapter } from "./index.ts";
import { sample, temporaryFolder } from "./testing.ts";

const refusal = expect.objectContaining({ name: "StorageRefused", code: "storage-replaced" });
const CHECKPOINT = { checkpointFrames: 60 };

/** A database of so many Executions, each in a commit of its own and on pages of its own; closed. */
async function made(file: string, prefix: string, count: number): Promise<void> {
  const store = await SqliteStore.create(file);
  for (let i = 0; i < count; i++) store.save(sample(`${prefix}${i}`, "x".repeat(3000)));
  store.close();
}

async function place(count = 40): Promise<string> {
  const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
  await made(file, "mine", count);
  return file;
}

interface Harm {
  readonly name: string;
  readonly harm: (file: string) => Promise<void>;
}

const copyOver = async (file: string, count: number): Promise<void> => {
  const other = path.join(temporaryFolder(onTestFinished, "memory"), "other.db");
  await made(other, "they", count);
  const { ino } = fs.statSync(file);
  execFileSync("cp", [other, file]);
  expect(fs.statSync(file).ino).toBe(ino);
};

const HARMS: readonly Harm[] = [
  { name: "a smaller database copied over it", harm: (file) => copyOver(file, 10) },
  { name: "a larger one", harm: (file) => copyOver(file, 80) },
  { name: "one that counts as many transactions and pages", harm: (file) => copyOver(file, 40) },
  { name: "one that counts some transactions more", harm: (file) => copyOver(file, 43) },
  { name: "the file cut to half", harm: async (file) => fs.truncateSync(file, fs.statSync(file).size / 2) },
  { name: "the file cut to nothing", harm: async (file) => fs.truncateSync(file, 0) },
  { name: "zeros written over it", harm: async (file) => fs.writeFileSync(file, new Uint8Array(8192), { flag: "r+" }) },
];

/** Ids in the transactions that a log holds whole. */
function logged(file: string): string {
  return fs.readFileSync(`${file}-wal`).toString("latin1");
}

describe.each(HARMS)("L7 $name under an open store", ({ harm }) => {
  test("is left alone by close, and so is the log", async () => {
    const file = await place();
    const store = await SqliteStore.create(file);
    store.save(sample("acknowledged"));
    await harm(file);
    const [base, log] = [fs.readFileSync(file), fs.readFileSync(`${file}-wal`)];
    store.close();
    expect(fs.readFileSync(file).equals(base)).toBe(true);
    expect(fs.readFileSync(`${file}-wal`).equals(log)).toBe(true);
    expect(fs.readdirSync(path.dirname(file)).sort()).toEqual(["a.db", "a.db-wal"]);
  });

  test.each(["strict", "relaxed"] as const)(
    "is left alone by a checkpoint (%s); then commits are refused",
    async (durability) => {
      const file = await place();
      const store = await SqliteStore.create(fileAdapter(file, { ...CHECKPOINT, durability }));
      await harm(file);
      const base = fs.readFileSync(file);
      let saved = 0;
      expect(() => {
        for (; saved < 200; saved++) store.save(sample(`new${saved}.`));
      }).toThrow(refusal);
      expect(saved).toBeGreaterThan(5);
      expect(fs.readFileSync(file).equals(base)).toBe(true);
      store.close();
      expect(fs.readFileSync(file).equals(base)).toBe(true);
      // What was acknowledged is in the log.
      for (let i = 0; i < saved; i++) expect(logged(file)).toContain(`new${i}.`);
    },
  );

  test("is left alone by an awaiting store's checkpoint", async () => {
    const file = await place();
    const store = await AsyncSqliteStore.create(asyncFileAdapter(file, CHECKPOINT));
    await harm(file);
    const base = fs.readFileSync(file);
    const save = async (): Promise<void> => {
      for (let i = 0; i < 50; i++) {
        await Promise.all([1, 2, 3, 4].map((each) => store.save(sample(`new${i}.${each}`))));
      }
    };
    await expect(save()).rejects.toThrow(refusal);
    await store.close();
    expect(fs.readFileSync(file).equals(base)).toBe(true);
  });

  test("is no reason to put a log back that was taken away too", async () => {
    const file = await place();
    const store = await SqliteStore.create(file);
    const one = sample("one");
    store.save(one);
    await harm(file);
    fs.rmSync(`${file}-wal`);
    const base = fs.readFileSync(file);
    expect(() => store.save(one)).toThrow(expect.objectContaining({ name: expect.stringMatching(/Refused|Corrupt/) }));
    store.close();
    expect(fs.readFileSync(file).equals(base)).toBe(true);
    expect(fs.existsSync(`${file}-wal`)).toBe(false);
  });
});

describe("a base that is ours", () => {
  test("L7 in the middle of a checkpoint: what is copied over it then stays as it is", async () => {
    const file = await place(300);
    const store = await SqliteStore.create(fileAdapter(file, { checkpointFrames: 900 }));
    const before = fs.readFileSync(file);
    let saved = 0;
    while (fs.readFileSync(file).equals(before)) store.save(sample(`new${saved++}`, "x".repeat(3000)));
    await copyOver(file, 10);
    const base = fs.readFileSync(file);
    expect(() => {
      for (let i = 0; i < 50; i++) store.save(sample(`late${i}`));
    }).toThrow(refusal);
    store.close();
    expect(fs.readFileSync(file).equals(base)).toBe(true);
  });

  test("L5 with a last page cut off that the log has: closed, it is whole again", async () => {
    const file = await place();
    const store = await SqliteStore.create(file);
    store.save(sample("one"));
    fs.truncateSync(file, fs.statSync(file).size - 4096);
    store.close();
    const again = await SqliteStore.create(file);
    expect(again.verify()).toEqual([]);
    expect(again.listExecutions({ limit: 1000 }).items).toHaveLength(41);
    again.close();
  });

  test("L5 with a first page that another store's unfinished checkpoint took from the log", async () => {
    const file = await place();
    const store = await SqliteStore.create(file);
    store.save(sample("one"));
    const log = fs.readFileSync(`${file}-wal`);
    for (let at = WAL_HEADER_BYTES; log.readUInt32BE(at) !== 0; at += frameBytes(4096)) {
      if (log.readUInt32BE(at) !== 1) continue;
      fs.writeFileSync(file, log.subarray(at + 24, at + 24 + 4096), { flag: "r+" });
    }
    store.save(sample("two"));
    store.close();
    expect(fs.readdirSync(path.dirname(file))).toEqual(["a.db"]);
    const again = await SqliteStore.create(file);
    expect(again.load("two")?.version).toBe(1);
    expect(again.verify()).toEqual([]);
    again.close();
  });

  test("L5 after one checkpoint after the other, by two stores in turn", async () => {
    const file = await place();
    const options = { checkpointFrames: 20 };
    const [a, b] = [
      await SqliteStore.create(fileAdapter(file, options)),
      await AsyncSqliteStore.create(asyncFileAdapter(file, options)),
    ];
    for (let i = 0; i < 60; i++) {
      a.save(sample(`a${i}`));
      if (i % 3 === 0) await b.save(sample(`b${i}`, "x".repeat(9000)));
    }
    expect(a.listExecutions({ limit: 1000 }).items).toHaveLength(120);
    a.close();
    await b.close();
    expect(fs.readdirSync(path.dirname(file))).toEqual(["a.db"]);
  });
});
