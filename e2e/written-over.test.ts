// Files that are written over in place while processes have them open (L7). More ways to do that are in the file adapter's
// own tests; here the one who could put things right is another process, or dead.
import { execFileSync } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newExecution, SqliteStore } from "perdure";
import { describe, expect, onTestFinished, test } from "vitest";
import { startChild } from "./child.js";

interface Remote {
  readonly commit: () => Promise<unknown>;
  /** Ends it without a chance to put anything right. */
  readonly kill: () => Promise<void>;
  readonly close: () => Promise<void>;
}

async function remote(file: string, kind: string): Promise<Remote> {
  const child = startChild("remote.js", { file, kind });
  await child.nextLine();
  return {
    commit: async () => JSON.parse(await child.ask("commit 1000")),
    async kill() {
      child.kill();
      await child.ended;
    },
    async close() {
      child.hangUp();
      expect(await child.ended).toEqual({ code: 0, signal: null, errors: "" });
    },
  };
}

async function newFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perdure-harm-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "store.db");
}

const versions = (store: SqliteStore): unknown =>
  Object.fromEntries(store.listExecutions().items.map(({ id, version }) => [id, version]));
const refusal = expect.objectContaining({ name: "StorageRefused", code: "storage-replaced" });
const save = (store: SqliteStore, id: string): void => store.save(newExecution({ id, definition_id: "local" }));

describe.each(["sync", "async"])("with another process (%s)", (kind) => {
  test("L4 L7 a log cut under both: who is behind writes nothing until the other one put it back", async () => {
    const file = await newFile();
    const [other, store] = [await remote(file, kind), await SqliteStore.create(file)];
    save(store, "one");
    expect(await other.commit()).toEqual({ version: 1, stored: 1 });
    await truncate(`${file}-wal`, 5000);
    expect(() => save(store, "two")).toThrow(refusal);
    expect(await other.commit()).toEqual({ version: 2, stored: 2 });
    save(store, "two");
    expect(versions(store)).toEqual({ one: 1, remote: 2, two: 1 });
    store.close();
    await other.close();
    const again = await SqliteStore.create(file);
    expect(versions(again)).toEqual({ one: 1, remote: 2, two: 1 });
    expect(again.verify()).toEqual([]);
    again.close();
  });

  test("L4 L7 a log cut after the last writer was killed: the other one says so", async () => {
    const file = await newFile();
    const [other, store] = [await remote(file, kind), await SqliteStore.create(file)];
    save(store, "one");
    await copyFile(`${file}-wal`, `${file}-before`);
    expect(await other.commit()).toEqual({ version: 1, stored: 1 });
    await other.kill();
    await copyFile(`${file}-before`, `${file}-wal`);
    for (const id of ["two", "three"]) expect(() => save(store, id)).toThrow(refusal);
    store.close();
    // Who opens it now takes what is there.
    const again = await SqliteStore.create(file);
    expect(versions(again)).toEqual({ one: 1 });
    again.close();
  });

  test("L7 another database copied over its file stays as it is", { timeout: 60_000 }, async () => {
    const [file, source] = [await newFile(), await newFile()];
    for (const place of [file, source]) {
      const store = await SqliteStore.create(place);
      for (let i = 0; i < 20; i++) save(store, `${place} ${i}`);
      store.close();
    }
    const other = await remote(file, kind);
    expect(await other.commit()).toEqual({ version: 1, stored: 1 });
    const { ino } = await stat(file);
    execFileSync("cp", [source, file]);
    expect((await stat(file)).ino).toBe(ino);
    let answer: unknown;
    let commits = 1;
    do answer = await other.commit();
    while ((answer as { version: number }).version === ++commits);
    expect(answer).toEqual({ code: "storage-replaced", version: commits - 1, stored: commits - 1 });
    await other.close();
    expect((await readFile(file)).equals(await readFile(source))).toBe(true);
    expect((await stat(`${file}-wal`)).size).toBeGreaterThan(300 * 4096);
  });
});
