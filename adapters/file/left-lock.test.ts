// A lock file that tells of more than the log has, because the log was restored, or its end never reached the disk, after
// its owner was killed. It stops who was there before, and nobody who opens since (L4, L7).
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SqliteStore } from "../node.ts";
import { openLog } from "./log-file.ts";
import { thisProcess } from "./owner.ts";
import { formatOwnerFile, readOwnerFile } from "./owner-file.ts";
import { sample, temporaryFolder, withOpens } from "./testing.ts";

const refusal = expect.objectContaining({ name: "StorageRefused", code: "storage-replaced" });
/** More frames than are written here. */
const FURTHER = 1000;

/** A lock as a killed owner leaves it, who had got further than the log is now. */
function layLock(file: string): void {
  const { log, scanned } = openLog(`${file}-wal`)!;
  log.close();
  const { salt1, frames } = scanned.position;
  const reached = [salt1, frames + FURTHER].map((word) => word.toString(16).padStart(8, "0")).join("");
  const text = formatOwnerFile({ ...thisProcess(), pid: 999_999_999, started: "1", locked: false });
  fs.rmSync(`${file}-lock`, { force: true });
  fs.writeFileSync(`${file}-lock`, text.replace(" ".repeat(reached.length), reached));
}

function versions(store: SqliteStore): Record<string, number> {
  return Object.fromEntries(store.listExecutions().items.map(({ id, version }) => [id, version]));
}

/** An open store with one Execution in its log. */
async function opened(): Promise<{ readonly file: string; readonly store: SqliteStore }> {
  const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
  const store = await SqliteStore.create(file);
  store.save(sample("one"));
  return { file, store };
}

test("L4 L7 all who open after it go on with what is there, however many open before one writes", async () => {
  const { file: first, store: killed } = await opened();
  const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
  for (const suffix of ["", "-wal"]) fs.copyFileSync(first + suffix, file + suffix);
  killed.close();
  layLock(file);
  const stores = [await SqliteStore.create(file), await SqliteStore.create(file), await SqliteStore.create(file)];
  for (const [i, store] of stores.entries()) store.save(sample(`new${i}`));
  for (const store of stores) expect(versions(store)).toEqual({ new0: 1, new1: 1, new2: 1, one: 1 });
  for (const store of stores) store.close();
  expect(fs.readdirSync(path.dirname(file))).toEqual(["a.db"]);
});

test("L4 L7 who was there before refuses until it is opened anew, and keeps nobody else from writing", async () => {
  const { file, store: before } = await opened();
  layLock(file);
  const two = sample("two");
  expect(() => before.save(two)).toThrow(refusal);
  const since = await SqliteStore.create(file);
  for (let i = 0; i < 3; i++) {
    // Since who refuses takes the lease to see that, it tells the others too.
    expect(() => before.save(two)).toThrow(refusal);
    since.save(sample(`new${i}`));
  }
  before.close();
  const again = await SqliteStore.create(file);
  again.save(two);
  since.save(sample("three"));
  expect(versions(again)).toEqual({ new0: 1, new1: 1, new2: 1, one: 1, three: 1, two: 1 });
  again.close();
  since.close();
});

test("L4 what is read while its owner writes it, half new and half old, is read again", async () => {
  const { file, store: owner } = await opened();
  const store = await SqliteStore.create(file);
  owner.save(sample("two"));
  const ownerFile = `${file}-lock.${readOwnerFile(`${file}-lock`)!.owner.token}`;
  const fd = fs.openSync(ownerFile, "r+");
  const whole = Buffer.alloc(17);
  fs.readSync(fd, whole, 0, whole.length, 0);
  const half = Buffer.from(whole).fill("f", 13);
  let opens = 0;
  const rewrite = (name: string): void => {
    if (name === ownerFile) fs.writeSync(fd, opens++ === 0 ? half : whole, 0, whole.length, 0);
  };
  await withOpens(rewrite, () => store.save(sample("three")));
  fs.closeSync(fd);
  expect(opens).toBeGreaterThan(0);
  expect(versions(owner)).toEqual({ one: 1, three: 1, two: 1 });
  store.close();
  owner.close();
});
