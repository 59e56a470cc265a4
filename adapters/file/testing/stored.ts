// What tests find stored: by a store that opens it anew, and by a stock sqlite3. Not part of the package.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, onTestFinished } from "vitest";
import { SqliteStore } from "../../node.ts";
import { temporaryFolder } from "../testing.ts";

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
