// What tests find stored: by a store that opens it anew, and by a stock sqlite3. Not part of the package.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, onTestFinished } from "vitest";
import { SqliteStore } from "../../node.ts";
import type { Execution } from "../../../src/records/structs.ts";
import { type Call, sample, temporaryFolder, withCalls } from "../testing.ts";

export const hasSqlite: boolean = ((): boolean => {
  try {
    execFileSync("sqlite3", ["--version"]);
    return true;
  } catch {
    return false;
  }
})();
export const sqlite = (file: string, ...sql: string[]): string =>
  execFileSync("sqlite3", [file, ...sql], { encoding: "utf8" }).trim();

/** Opened anew, the file must hold exactly these. */
export async function expectStored(file: string, versions: Record<string, number>): Promise<void> {
  const store = await SqliteStore.create(file, { mustExist: true });
  const found = Object.fromEntries(store.listExecutions().items.map(({ id, version }) => [id, version]));
  store.close();
  expect(found).toEqual(versions);
  if (hasSqlite) expect(sqlite(file, "PRAGMA integrity_check")).toBe("ok");
}

/** What the files hold now, as a process that comes after a crash finds them. */
export function crashed(file: string): string {
  const copy = path.join(temporaryFolder(onTestFinished), "a.db");
  for (const suffix of ["", "-wal"]) {
    if (fs.existsSync(file + suffix)) fs.copyFileSync(file + suffix, copy + suffix);
  }
  return copy;
}

/** A path of its own, with nothing there. */
export function place(): string {
  return path.join(temporaryFolder(onTestFinished), "a.db");
}

/** A store at a place of its own, with one commit in it. */
export async function storeWithOne(): Promise<{ file: string; store: SqliteStore; one: Execution }> {
  const file = place();
  const store = await SqliteStore.create(file);
  const one = sample("one");
  store.save(one);
  return { file, store, one };
}

/** Runs `work`, and `act` in the middle of its commit: when the frames are written, and not yet synced. */
export async function atFirstSync(act: () => void, work: () => void): Promise<void> {
  let isFirst = true;
  const syncing = (call: Call): void => {
    if (call !== "fdatasyncSync" || !isFirst) return;
    isFirst = false;
    act();
  };
  await withCalls(syncing, work);
  expect(isFirst).toBe(false);
}
