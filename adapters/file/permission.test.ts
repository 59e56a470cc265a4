// Files and folders that this process has no right to: a typed error, and not a byte changed (L7). Root may do anything,
// so as root the store is opened under another user's rights, which only a process of Node's own can take for a while.
import * as fs from "node:fs";
import * as path from "node:path";
import { isMainThread } from "node:worker_threads";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AsyncSqliteStore, SqliteStore, StorageRefused } from "../node.ts";
import { contents, sample, temporaryFolder } from "./testing.ts";

const NOBODY = 65534;
const isRoot = process.geteuid?.() === 0;
const canTry = process.geteuid !== undefined && (!isRoot || (isMainThread && process.seteuid !== undefined));

/** Does something with the rights of a user whom the files do not belong to, or of the one who started us if not root. */
async function withoutRights<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return await work();
  process.seteuid!(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}

/** Changes a mode for the test alone: what cannot be read could not be compared or removed either. */
function restricting<T>(file: string, mode: number, work: () => Promise<T>): Promise<T> {
  const before = fs.statSync(file).mode;
  fs.chmodSync(file, mode);
  return work().finally(() => fs.chmodSync(file, before));
}

/** A folder that everybody may look into, in one that everybody may write to. */
function openFolder(): string {
  const folder = temporaryFolder(onTestFinished);
  fs.chmodSync(folder, 0o755);
  return folder;
}

interface Denied {
  readonly name: string;
  /** What is restricted, in the folder; "" is the folder itself. */
  readonly what: "" | "a.db" | "a.db-wal";
  readonly mode: number;
  /** Whether the database is there already. */
  readonly exists: boolean;
}

const DENIED: readonly Denied[] = [
  { name: "a file that may not be opened", what: "a.db", mode: 0o000, exists: true },
  { name: "a file that may only be read", what: "a.db", mode: 0o444, exists: true },
  { name: "a file that may only be written", what: "a.db", mode: 0o222, exists: true },
  { name: "a log that may not be opened", what: "a.db-wal", mode: 0o000, exists: true },
  { name: "a folder that may not be entered", what: "", mode: 0o000, exists: true },
  { name: "a folder that may only be read", what: "", mode: 0o555, exists: true },
  { name: "nothing yet, in a folder that may not be entered", what: "", mode: 0o000, exists: false },
  { name: "nothing yet, in a folder that may only be read", what: "", mode: 0o555, exists: false },
];

const golden = (name: string): Buffer => fs.readFileSync(new URL(`../../src/contract/golden/${name}`, import.meta.url));

describe.each([SqliteStore, AsyncSqliteStore])("$name without permission", (Store) => {
  // The engine is loaded before any right is given up.
  beforeAll(async () => (await Store.create()).close());

  test.skipIf(!canTry).each(DENIED)("L7 $name is refused", async ({ what, mode, exists }) => {
    const folder = openFolder();
    const file = path.join(folder, "a.db");
    if (exists) {
      for (const part of ["", "-wal"]) {
        fs.writeFileSync(file + part, golden(`uncheckpointed.db${part}`), { mode: 0o666 });
        fs.chmodSync(file + part, 0o666);
      }
    }
    // Whoever may write to the folder can make the lock file: the refusal must come from the file itself.
    if (what !== "") fs.chmodSync(folder, 0o777);
    const before = contents(folder);
    const error: unknown = await restricting(path.join(folder, what), mode, () =>
      withoutRights(() => Store.create(file).catch((thrown: unknown) => thrown)),
    );
    expect(error).toBeInstanceOf(StorageRefused);
    expect(error).toMatchObject({ code: "storage-denied" });
    expect((error as Error).message).toMatch(/a\.db: .*permission/);
    expect(contents(folder)).toEqual(before);
    // With the right to it, the same place opens.
    const store = await Store.create(file);
    await store.save(sample("one"));
    await store.close();
  });
});
