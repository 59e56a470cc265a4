// What is no matter of the database itself: a path that says something else than the system would take it for, things that
// lie where files of ours belong, and a system that is out of files or space. A typed error that says what to do (L7).
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AsyncSqliteStore, salvage, SqliteStore } from "../node.ts";
import { asyncFileAdapter, fileAdapter } from "./index.ts";
import { sample, systemError, temporaryFolder, withCalls, withOpens } from "./testing.ts";

const folder = (): string => temporaryFolder(onTestFinished, "memory");

/** A database that somebody left, closed. */
async function left(): Promise<string> {
  const file = path.join(folder(), "a.db");
  const store = await SqliteStore.create(file);
  store.save(sample("one"));
  store.close();
  return file;
}

const opened = async (file: string): Promise<number> => {
  const store = await SqliteStore.create(file);
  const { length } = store.listExecutions().items;
  store.save(sample("two"));
  store.close();
  return length;
};

describe.each([SqliteStore, AsyncSqliteStore])("$name refuses a path", (Store) => {
  test.each([
    ["with a lone surrogate", "a\ud800.db"],
    ["that ends in a slash", "orders/"],
    ["that ends in slashes", "orders//"],
  ])("%s, and makes no file", async (_, name) => {
    const parent = folder();
    const file = `${parent}/${name}`;
    const refusal = expect.objectContaining({ name: "RecordInvalid", code: "record-invalid" });
    await expect(Store.create(file)).rejects.toThrow(refusal);
    expect(() => fileAdapter(file)).toThrow(refusal);
    expect(() => asyncFileAdapter(file)).toThrow(refusal);
    expect(fs.readdirSync(parent)).toEqual([]);
  });

  test("that is too long for the files beside it", async () => {
    const file = path.join(folder(), "a".repeat(250));
    const error: unknown = await Store.create(file).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: "StorageRefused",
      code: "unsupported",
      message: expect.stringContaining("shorter"),
    });
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });
});

test("salvage refuses a path that ends in a slash", async () => {
  const file = await left();
  await expect(salvage(`${file}/`, path.join(folder(), "b.db"))).rejects.toMatchObject({ code: "record-invalid" });
});

describe("things that are no files", () => {
  test.each([
    ["a folder", "-wal", (at: string) => fs.mkdirSync(at)],
    ["a folder", "-journal", (at: string) => fs.mkdirSync(at)],
    ["a folder", "-lock", (at: string) => fs.mkdirSync(at)],
    ["a link to nowhere", "-lock", (at: string) => fs.symlinkSync("nowhere", at)],
    ["a link to itself", "-lock", (at: string) => fs.symlinkSync(at, at)],
  ])("L7 %s in the place of %s is refused by its path, and stays", async (_, suffix, make) => {
    const file = await left();
    const at = file + suffix;
    make(at);
    const names = fs.readdirSync(path.dirname(file));
    const error: unknown = await opened(file).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "StorageRefused", code: "storage-unreadable" });
    expect((error as Error).message).toContain(`(${at}); move it away`);
    expect(fs.readdirSync(path.dirname(file))).toEqual(names);
    fs.rmSync(at, { recursive: true });
    expect(await opened(file)).toBe(1);
  });

  test.each([
    ["a folder", (at: string) => fs.mkdirSync(at)],
    ["a link to nowhere", (at: string) => fs.symlinkSync("nowhere", at)],
    ["a link to the database", (at: string) => fs.symlinkSync("a.db", at)],
  ])("%s named like another store's file is nobody's", async (_, make) => {
    const file = await left();
    make(`${file}-lock.somebody`);
    expect(await opened(file)).toBe(1);
    expect(fs.readdirSync(path.dirname(file)).sort()).toEqual(["a.db", "a.db-lock.somebody"]);
  });
});

describe("a system that is out of", () => {
  test.each([
    ["EMFILE", /this process has too many files open .*ulimit/],
    ["ENFILE", /the system has too many files open/],
  ])("files (%s): whichever cannot be opened, it is no matter of permission", async (code, says) => {
    const file = await left();
    const before = fs.readFileSync(file);
    for (let opens = 0; ; opens++) {
      let count = 0;
      const failing = (name: string): void => {
        if (name.startsWith(path.dirname(file)) && count++ === opens) throw systemError(code);
      };
      await withOpens(failing, async () => {
        const store = await SqliteStore.create(file).catch((error: unknown) => {
          expect(error).toMatchObject({ name: "StorageRefused", code: "storage-unreadable", cause: { code } });
          expect((error as Error).message).toMatch(says);
        });
        store?.close();
      });
      expect(fs.readFileSync(file).equals(before)).toBe(true);
      if (count <= opens) break;
    }
  });

  test("space: it says so, and what to do", async () => {
    const file = await left();
    const full = (call: string): void => {
      if (call === "writeSync") throw systemError("ENOSPC");
    };
    const error = await withCalls(full, () => SqliteStore.create(file).catch((thrown: unknown) => thrown));
    expect(error).toMatchObject({ name: "FlushFailed", code: "no-space" });
    expect((error as Error).message).toBe(
      `no space left to write ${file}; nothing was changed, free some space and try again`,
    );
  });

  test("space in the middle of opening too", async () => {
    const file = await left();
    let writes = 0;
    const full = (call: string): void => {
      if (call === "writeSync" && ++writes > 4) throw systemError("ENOSPC");
    };
    const error = await withCalls(full, () => SqliteStore.create(file).catch((thrown: unknown) => thrown));
    expect(error).toMatchObject({
      name: "FlushFailed",
      code: "no-space",
      message: expect.stringContaining("nothing was changed"),
    });
    expect(await opened(file)).toBe(1);
  });
});
