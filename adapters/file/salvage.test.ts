// Salvage from files into files: the source stays as it is, and the new place appears whole or not at all (L7).
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { salvage, SqliteStore, StorageRefused } from "../node.ts";
import { contents, sample, temporaryFolder } from "./testing.ts";

const golden = (name: string): Buffer => fs.readFileSync(new URL(`../../src/contract/golden/${name}`, import.meta.url));

function laid(files: Record<string, Uint8Array>): { folder: string; from: string; into: string } {
  const folder = temporaryFolder(onTestFinished);
  for (const [name, bytes] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), bytes);
  return { folder, from: path.join(folder, "a.db"), into: path.join(folder, "rescued.db") };
}

test("L7 a file with its log comes over whole, and is left as it is", async () => {
  const files = { "a.db": golden("uncheckpointed.db"), "a.db-wal": golden("uncheckpointed.db-wal") };
  const { folder, from, into } = laid(files);
  const before = contents(folder);
  const report = await salvage(from, into);
  expect(report).toMatchObject({ lost: [], problems: [], otherTables: [] });
  const { "rescued.db": rescued, ...rest } = contents(folder);
  expect(rescued).toBeDefined();
  expect(rest).toEqual(before);
  const store = await SqliteStore.create(into);
  expect(store.verify()).toEqual([]);
  expect(store.listExecutions().items).toHaveLength(report.rows.executions);
  expect(report.rows.executions).toBeGreaterThan(10);
  store.close();
  expect(fs.statSync(into).mode & 0o777).toBe(0o600);
});

test("L7 what a store refuses, salvage reads: a page is gone, and the rest is there", async () => {
  const database = golden("checkpointed.db");
  database.fill(0xaa, 4096, 8192);
  const { from, into } = laid({ "a.db": database });
  await expect(SqliteStore.create(from)).rejects.toMatchObject({ code: "image-corrupt", where: { page: 2 } });
  const { rows, lost } = await salvage(from, into);
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.every(({ table }) => table === "executions")).toBe(true);
  expect(rows.trace + rows.timers).toBeGreaterThan(0);
});

test("L7 a place where something is stays as it is, and so does one that is not there", async () => {
  const { folder, from, into } = laid({ "a.db": golden("checkpointed.db") });
  const store = await SqliteStore.create(into);
  store.save(sample("one"));
  store.close();
  const before = contents(folder);
  await expect(salvage(from, into)).rejects.toMatchObject({ code: "storage-exists" });
  await expect(salvage(from, from)).rejects.toMatchObject({ code: "storage-exists" });
  await expect(salvage(path.join(folder, "none.db"), path.join(folder, "new.db"))).rejects.toThrow(StorageRefused);
  expect(contents(folder)).toEqual(before);
});

test("L7 bytes that are no database at all give an empty store, and say so", async () => {
  const { into } = laid({});
  const noise = Uint8Array.from({ length: 50_000 }, (_, i) => (i * 7919 + 13) % 251);
  const { rows, lost, problems } = await salvage({ database: noise, wal: noise }, into);
  expect(Object.values(rows).every((count) => count === 0)).toBe(true);
  expect(lost.length).toBeGreaterThan(0);
  expect(problems.length).toBeGreaterThan(0);
});

test("L7 a transaction of another program that is unfinished is told", async () => {
  const { from, into } = laid({ "a.db": golden("checkpointed.db"), "a.db-journal": Uint8Array.of(0xd9, 0xd5) });
  const { problems } = await salvage(from, into);
  expect(problems.map(({ problem }) => problem).join()).toContain("unfinished");
});
