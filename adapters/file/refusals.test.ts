// Files that cannot be used: a typed error that says why, and not a byte changed (L7).
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadEngine } from "../../src/engine/engine.ts";
import { Database } from "../../src/engine/database.ts";
import { AsyncSqliteStore, type ErrorCode, PerdureError, SqliteStore } from "../node.ts";
import { contents, sample, temporaryFolder } from "./testing.ts";
import { patched } from "../wal/testing.ts";

const golden = (name: string): Buffer => fs.readFileSync(new URL(`../../src/contract/golden/${name}`, import.meta.url));

/** A database made by the engine, whole, as a stock SQLite would leave it. */
async function made(sql: string, pageSize = 4096): Promise<Uint8Array> {
  const db = new Database(await loadEngine(), { pageSize, pageCount: 0, chunks: [] });
  db.exec(sql);
  db.settle();
  const { pages } = db;
  const whole = Buffer.concat(Array.from({ length: pages.pageCount }, (_, i) => pages.page(i + 1)));
  db.close();
  return whole;
}

interface Hostile {
  readonly name: string;
  readonly code: ErrorCode;
  readonly says: RegExp;
  readonly files: () => Promise<Record<string, Uint8Array>> | Record<string, Uint8Array>;
}

const HOSTILE: readonly Hostile[] = [
  {
    name: "text",
    code: "not-a-database",
    says: /encrypted/,
    files: () => ({ "a.db": Buffer.from("hello ".repeat(1000)) }),
  },
  { name: "a short text", code: "not-a-database", says: /not a SQLite/, files: () => ({ "a.db": Buffer.from("hi") }) },
  {
    name: "random bytes, as encrypted ones look",
    code: "not-a-database",
    says: /encrypted/,
    files: () => ({ "a.db": Uint8Array.from({ length: 8192 }, (_, i) => (i * 7919 + 13) % 251) }),
  },
  { name: "an empty file", code: "image-corrupt", says: /empty/, files: () => ({ "a.db": new Uint8Array(0) }) },
  {
    name: "an empty file with a log",
    code: "image-corrupt",
    says: /empty/,
    files: () => ({ "a.db": new Uint8Array(0), "a.db-wal": golden("uncheckpointed.db-wal") }),
  },
  {
    name: "a log without its database",
    code: "image-corrupt",
    says: /log/,
    files: () => ({ "a.db-wal": golden("uncheckpointed.db-wal") }),
  },
  {
    name: "something that is no log in its place",
    code: "image-corrupt",
    says: /no log/,
    files: () => ({
      "a.db": golden("checkpointed.db"),
      "a.db-wal": patched(golden("uncheckpointed.db-wal"), 24, 1, 2, 3),
    }),
  },
  {
    name: "a log with damage in front of transactions that are whole",
    code: "image-corrupt",
    says: /frame .* fails the checksum.* \(log, frame 31, byte 123632\)/,
    files: () => ({
      "a.db": golden("uncheckpointed.db"),
      "a.db-wal": patched(golden("uncheckpointed.db-wal"), 32 + 30 * 4120 + 100, 0xa5, 0x5a),
    }),
  },
  {
    name: "a file cut in the middle of a page",
    code: "image-corrupt",
    says: /page 25 is missing \(truncated\)/,
    files: () => ({ "a.db": golden("checkpointed.db").subarray(0, 101_000) }),
  },
  {
    name: "a file cut between pages",
    code: "image-corrupt",
    says: /page 11 is missing/,
    files: () => ({ "a.db": golden("checkpointed.db").subarray(0, 40_960) }),
  },
  {
    name: "a header alone",
    code: "image-corrupt",
    says: /missing/,
    files: () => ({ "a.db": golden("checkpointed.db").subarray(0, 100) }),
  },
  {
    name: "a page size that is none",
    code: "not-a-database",
    says: /not a SQLite/,
    files: () => ({ "a.db": patched(golden("checkpointed.db"), 16, 3, 0) }),
  },
  {
    name: "a format of the future",
    code: "newer-format",
    says: /newer/,
    files: () => ({ "a.db": patched(golden("checkpointed.db"), 18, 3, 3) }),
  },
  {
    name: "an unfinished transaction of another program",
    code: "hot-journal",
    says: /roll it back/,
    files: () => ({
      "a.db": golden("rollback-mode.db"),
      "a.db-journal": Uint8Array.of(0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, ...Array<number>(504).fill(0)),
    }),
  },
  {
    name: "a table of ours with other columns",
    code: "schema-mismatch",
    says: /table timers/,
    files: async () => ({ "a.db": await made("CREATE TABLE timers (id INTEGER PRIMARY KEY, name TEXT)") }),
  },
  {
    name: "a version of the schema that is not known",
    code: "newer-format",
    says: /user_version is 3/,
    files: async () => ({ "a.db": await made("CREATE TABLE other (x); PRAGMA user_version=3") }),
  },
  {
    name: "pages that are not a b-tree",
    code: "image-corrupt",
    says: /malformed/,
    files: () => ({ "a.db": patched(golden("checkpointed.db"), 100, 0xff, 0xff, 0xff, 0xff) }),
  },
  {
    name: "a log with pages of another size",
    code: "image-corrupt",
    says: /another size/,
    files: async () => ({
      "a.db": await made("CREATE TABLE other (x)", 1024),
      "a.db-wal": golden("uncheckpointed.db-wal"),
    }),
  },
];

describe.each([SqliteStore, AsyncSqliteStore])("$name refuses", (Store) => {
  test.each(HOSTILE)("L7 $name", async ({ code, says, files }) => {
    const folder = temporaryFolder(onTestFinished);
    for (const [name, bytes] of Object.entries(await files())) fs.writeFileSync(path.join(folder, name), bytes);
    const before = contents(folder);
    const error: unknown = await Store.create(path.join(folder, "a.db")).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PerdureError);
    expect(error).toMatchObject({ code });
    expect((error as Error).message).toMatch(says);
    expect((error as Error).message).toContain("a.db");
    expect(contents(folder)).toEqual(before);
  });

  test("L7 a directory", async () => {
    const folder = temporaryFolder(onTestFinished);
    fs.mkdirSync(path.join(folder, "a.db"));
    await expect(Store.create(path.join(folder, "a.db"))).rejects.toMatchObject({ code: "not-a-database" });
    expect(fs.readdirSync(folder)).toEqual(["a.db"]);
  });

  test("L7 a folder that is not there", async () => {
    const folder = temporaryFolder(onTestFinished);
    await expect(Store.create(path.join(folder, "none/a.db"))).rejects.toMatchObject({ code: "storage-missing" });
  });

  test("L7 nothing, when something must exist", async () => {
    const folder = temporaryFolder(onTestFinished);
    const opening = Store.create(path.join(folder, "a.db"), { mustExist: true });
    await expect(opening).rejects.toMatchObject({ code: "storage-missing" });
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  test("L7 a loop of links", async () => {
    const folder = temporaryFolder(onTestFinished);
    fs.symlinkSync("b.db", path.join(folder, "a.db"));
    fs.symlinkSync("a.db", path.join(folder, "b.db"));
    await expect(Store.create(path.join(folder, "a.db"))).rejects.toMatchObject({ code: "storage-denied" });
  });
});

describe("a file is kept as it is", () => {
  test("a link stays a link, and the log lies beside what it points to", async () => {
    const folder = temporaryFolder(onTestFinished);
    fs.mkdirSync(path.join(folder, "real"));
    fs.symlinkSync("real/a.db", path.join(folder, "link.db"));
    const store = await SqliteStore.create(path.join(folder, "link.db"));
    store.save(sample("one"));
    expect(fs.readdirSync(folder).sort()).toEqual(["link.db", "real"]);
    expect(fs.readdirSync(path.join(folder, "real"))).toContain("a.db-wal");
    store.close();
    const again = await SqliteStore.create(path.join(folder, "real/a.db"), { mustExist: true });
    expect(again.load("one")?.version).toBe(1);
    again.close();
    expect(fs.lstatSync(path.join(folder, "link.db")).isSymbolicLink()).toBe(true);
  });

  test("behind a linked folder `..` is where the system says", async () => {
    const folder = temporaryFolder(onTestFinished);
    fs.mkdirSync(path.join(folder, "real/inner"), { recursive: true });
    fs.mkdirSync(path.join(folder, "other"));
    fs.symlinkSync("../real/inner", path.join(folder, "other/link"));
    fs.symlinkSync("../a.db", path.join(folder, "real/inner/b.db"));
    const stores = [];
    for (const name of ["real/a.db", "other/link/../a.db", "other/link/b.db"]) {
      const store = await SqliteStore.create(`${folder}/${name}`);
      store.save(sample(name.replaceAll("/", "-")));
      stores.push(store);
    }
    for (const store of stores) expect(store.listExecutions().items).toHaveLength(3);
    expect(fs.readdirSync(path.join(folder, "other"))).toEqual(["link"]);
    for (const store of stores) store.close();
  });

  test("a mode stays, the log has the same, and a new file is for its owner alone", async () => {
    const folder = temporaryFolder(onTestFinished);
    const old = path.join(folder, "old.db");
    fs.writeFileSync(old, golden("checkpointed.db"));
    fs.chmodSync(old, 0o664);
    const store = await SqliteStore.create(old);
    store.save(sample("one"));
    expect(fs.statSync(old).mode & 0o777).toBe(0o664);
    expect(fs.statSync(`${old}-wal`).mode & 0o777).toBe(0o664);
    store.close();
    const fresh = await SqliteStore.create(path.join(folder, "new.db"));
    fresh.save(sample("one"));
    expect(fs.statSync(path.join(folder, "new.db")).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.join(folder, "new.db-wal")).mode & 0o777).toBe(0o600);
    fresh.close();
  });

  test("closed, the file is complete by itself and alone", async () => {
    const folder = temporaryFolder(onTestFinished);
    const store = await SqliteStore.create(path.join(folder, "a.db"));
    store.save(sample("one"));
    store.close();
    expect(fs.readdirSync(folder)).toEqual(["a.db"]);
  });

  test.each([512, 1024, 2048, 8192, 16384, 32768, 65536])("pages of %i bytes are kept", async (pageSize) => {
    const folder = temporaryFolder(onTestFinished);
    const file = path.join(folder, "a.db");
    fs.writeFileSync(
      file,
      await made("PRAGMA auto_vacuum=FULL; CREATE TABLE other (x); INSERT INTO other VALUES (7)", pageSize),
    );
    const store = await SqliteStore.create(file);
    for (let i = 0; i < 40; i++) store.save(sample(`e${i}`, "x".repeat(900)));
    store.close();
    const size = fs.readFileSync(file).readUInt16BE(16);
    expect(size === 1 ? 65536 : size).toBe(pageSize);
    const again = await SqliteStore.create(file);
    expect(again.listExecutions().items).toHaveLength(40);
    again.close();
  });
});

describe("the last one to close leaves the file alone", () => {
  test("L5 whoever wrote last", async () => {
    const folder = temporaryFolder(onTestFinished);
    const file = path.join(folder, "a.db");
    const a = await SqliteStore.create(file);
    a.save(sample("one"));
    const b = await AsyncSqliteStore.create(file);
    await b.save(sample("two"));
    const c = await SqliteStore.create(file);
    a.save(sample("three"));
    c.close();
    await b.close();
    a.close();
    expect(fs.readdirSync(folder)).toEqual(["a.db"]);
    const again = await SqliteStore.create(file);
    expect(again.listExecutions().items).toHaveLength(3);
    again.close();
  });

  test("L5 though a stock reader was there, and went", async () => {
    const folder = temporaryFolder(onTestFinished);
    const file = path.join(folder, "a.db");
    const store = await SqliteStore.create(file);
    store.save(sample("one"));
    // What a reader leaves behind.
    fs.writeFileSync(`${file}-shm`, new Uint8Array(32768));
    store.close();
    expect(fs.readdirSync(folder)).toEqual(fs.existsSync("/proc/locks") ? ["a.db"] : ["a.db", "a.db-shm", "a.db-wal"]);
  });
});
