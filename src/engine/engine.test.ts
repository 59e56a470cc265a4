// Pins every fact about how sql.js is compiled that engine.ts and vfs.ts stand on, so that an upgrade that changes one
// fails here and not in somebody's data.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { beforeAll, describe, expect, test } from "vitest";
import { EngineFailed } from "../errors.ts";
import { Database } from "./database.ts";
import { loadEngine, type Pointer, type SqlJs, startEngine } from "./engine.ts";
import { emptyImage, exportsOf, startStock, startWatchedEngine, texts } from "./testing.ts";

/** SQLite's result codes and flags. */
const OK = 0;
const MAIN_DB = 0x100;
/** `sqlite3_vfs`, with pointers of four bytes. */
const VFS = { version: 0, fileBytes: 4, pathBytes: 8, next: 12, name: 16, appData: 20, open: 24, access: 32 };
/** `sqlite3_io_methods` version 1: after iVersion, in this order. */
const METHODS = [
  "close",
  "read",
  "write",
  "truncate",
  "sync",
  "fileSize",
  "lock",
  "unlock",
  "checkReservedLock",
  "fileControl",
  "sectorSize",
  "deviceCharacteristics",
];

describe("stock sql.js", () => {
  let stock: Awaited<ReturnType<typeof startStock>>;
  let memory: WebAssembly.Memory;
  let table: WebAssembly.Table;
  beforeAll(async () => {
    stock = await startStock();
    [memory, table] = [
      exportsOf(stock.instance, WebAssembly.Memory)[0]!,
      exportsOf(stock.instance, WebAssembly.Table)[0]!,
    ];
  });
  const word = (at: Pointer): number => new DataView(memory.buffer).getInt32(at, true);

  /** What a raw handle points at; the handle is closed again. */
  function withRaw<T>(sqlite: SqlJs, name: string, use: (db: Pointer) => T): T {
    const [path, out] = [sqlite.stringToNewUTF8(name), sqlite._malloc(4)];
    expect(sqlite._sqlite3_open(path, out)).toBe(OK);
    const db = word(out);
    try {
      return use(db);
    } finally {
      sqlite._sqlite3_close_v2(db);
      sqlite._free(path);
      sqlite._free(out);
    }
  }

  test("takes the instance that instantiateWasm gives it", () => {
    // Whatever it allocates is in the memory of that instance.
    const { sqlite } = stock;
    const text = sqlite.stringToNewUTF8("perdure");
    expect(new TextDecoder().decode(new Uint8Array(memory.buffer, text, 7))).toBe("perdure");
    sqlite._free(text);
  });

  test("exports exactly one memory and one table", () => {
    expect(exportsOf(stock.instance, WebAssembly.Memory)).toHaveLength(1);
    expect(exportsOf(stock.instance, WebAssembly.Table)).toHaveLength(1);
  });

  test("hands out the calls we use, and neither its file system nor its memory", () => {
    const used = ["_malloc", "_free", "addFunction", "stringToNewUTF8", "UTF8ToString"];
    const sqlite3 = "open close_v2 exec prepare_v2 finalize step reset bind_text bind_int bind_double clear_bindings";
    const more = "column_type column_double column_text column_bytes changes errmsg extended_errcode";
    for (const name of `${sqlite3} ${more}`.split(" ")) used.push(`_sqlite3_${name}`);
    const missing = used.filter((name) => typeof Reflect.get(stock.sqlite, name) !== "function");
    expect(missing).toEqual([]);
    expect(Object.keys(stock.sqlite)).not.toEqual(expect.arrayContaining(["FS"]));
    expect(Object.keys(stock.sqlite)).not.toEqual(expect.arrayContaining(["HEAPU8"]));
  });

  test("keeps the VFS in the first field of sqlite3*, laid out as sqlite3_vfs", () => {
    const vfs = withRaw(stock.sqlite, ":memory:", word);
    expect(word(vfs + VFS.version)).toBeGreaterThanOrEqual(1);
    expect(word(vfs + VFS.version)).toBeLessThanOrEqual(3);
    // Room for the one field of sqlite3_file that ours needs: the pointer to its methods.
    expect(word(vfs + VFS.fileBytes)).toBeGreaterThanOrEqual(4);
    expect(word(vfs + VFS.pathBytes)).toBe(512);
    expect(stock.sqlite.UTF8ToString(word(vfs + VFS.name))).toBe("unix");
    // Registered behind it.
    expect(stock.sqlite.UTF8ToString(word(word(vfs + VFS.next) + VFS.name))).toBe("memdb");
    for (const at of [VFS.open, VFS.access]) expect(table.get(word(vfs + at))).toBeTypeOf("function");
    expect(withRaw(stock.sqlite, ":memory:", word)).toBe(vfs);
  });

  test("has the functions of its VFS in the order xOpen, xDelete, xAccess", () => {
    // Told apart by what they do to a file that is not there.
    const { sqlite } = stock;
    const vfs = withRaw(sqlite, ":memory:", word);
    const path = sqlite.stringToNewUTF8("/not-there");
    const out = sqlite._malloc(4);
    const call = (at: number, ...args: number[]): unknown => table.get(word(vfs + at))(vfs, path, ...args);
    const deleteNoEntry = 10 | (23 << 8);
    expect(call(VFS.open + 4, 0)).toBe(deleteNoEntry);
    new DataView(memory.buffer).setInt32(out, -1, true);
    expect(call(VFS.access, 0, out)).toBe(OK);
    expect(word(out)).toBe(0);
    sqlite._free(path);
    sqlite._free(out);
  });

  test("is SQLite 3.54.1, and can read the JSON that listings need", async () => {
    const db = new Database(await startEngine(), emptyImage());
    expect(texts(db, "SELECT sqlite_version()")).toEqual(["3.54.1"]);
    expect(texts(db, `SELECT json_extract('{"status":"DONE"}','$.status') WHERE json_valid('{}')`)).toEqual(["DONE"]);
    db.close();
  });
});

describe("engine", () => {
  test("every start makes an instance of its own", async () => {
    const [one, other] = await Promise.all([startEngine(), startEngine()]);
    expect(one.sqlite).not.toBe(other.sqlite);
    const db = new Database(one, emptyImage());
    db.exec("CREATE TABLE t (a)");
    const untouched = new Database(other, emptyImage());
    expect(texts(untouched, "SELECT name FROM sqlite_schema")).toEqual([]);
    db.close();
    untouched.close();
  });

  test("L7: wrong bytes are refused with a typed error, and the failure is not remembered", async () => {
    const failure = await loadEngine({ wasm: new Uint8Array([1, 2, 3]) }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EngineFailed);
    expect(failure).toMatchObject({ code: "engine-failed", cause: expect.any(WebAssembly.CompileError) });
    const engine = await loadEngine();
    expect(await loadEngine()).toBe(engine);
  });

  test("takes sql.js's wasm file from whoever brings it", async () => {
    const wasm = readFileSync(createRequire(import.meta.url).resolve("sql.js/dist/sql-wasm-browser.wasm"));
    const db = new Database(await startEngine({ wasm }), emptyImage());
    expect(texts(db, "SELECT 'it runs'")).toEqual(["it runs"]);
    db.close();
  });

  test("the views of its memory are right after it has grown", async () => {
    const { sqlite, memory } = await startEngine();
    const [bytes, view] = [memory.bytes, memory.view];
    const kept = sqlite.stringToNewUTF8("kept");
    const big = sqlite._malloc(64 * 1024 * 1024);
    expect(big).not.toBe(0);
    // Growing detached the old ones, which is why nobody may keep them.
    expect(bytes.length).toBe(0);
    expect(() => view.getInt8(0)).toThrow(TypeError);
    expect(new TextDecoder().decode(memory.bytes.subarray(kept, kept + 4))).toBe("kept");
    expect(memory.view.getUint8(kept)).toBe("k".charCodeAt(0));
    memory.view.setUint8(big + 64 * 1024 * 1024 - 1, 7);
    expect(memory.bytes[big + 64 * 1024 * 1024 - 1]).toBe(7);
  });

  test("names that are not ours still go to the VFS that was there", async () => {
    const { sqlite, memory } = await startEngine();
    const [path, out] = [sqlite.stringToNewUTF8("/not-ours.db"), sqlite._malloc(4)];
    const sql = sqlite.stringToNewUTF8("PRAGMA journal_mode=DELETE; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    for (const open of [1, 2]) {
      expect(sqlite._sqlite3_open(path, out)).toBe(OK);
      const db = memory.view.getInt32(out, true);
      // Once it works; the second time the table is there already: the file was kept where sql.js keeps files.
      expect(sqlite._sqlite3_exec(db, sql, 0, 0, 0)).toBe(open === 1 ? OK : 1);
      sqlite._sqlite3_close_v2(db);
    }
  });
});

describe("the VFS under SQLite", () => {
  test("SQLite calls twelve methods through our sqlite3_io_methods, and gives 64-bit numbers as BigInt", async () => {
    const engine = await startWatchedEngine();
    const { memory, table, calls } = engine;
    const db = new Database(engine, emptyImage());
    db.exec("PRAGMA auto_vacuum=FULL; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000)); DELETE FROM t");
    const file = Number(
      calls.find(({ args }) => args.length === 5 && args[3] === (Number(args[3]) | MAIN_DB))!.args[2],
    );
    const methods = memory.view.getInt32(file, true);
    expect(memory.view.getInt32(methods, true)).toBe(1);
    // Some share a function: then the last name counts.
    const names = new Map(METHODS.map((name, i) => [memory.view.getInt32(methods + 4 + i * 4, true), name]));
    for (const pointer of names.keys()) expect(table.get(pointer)).toBeTypeOf("function");
    db.close();
    const seen: Record<string, string> = {};
    for (const { pointer, args } of calls) {
      const name = names.get(pointer);
      if (name === undefined) continue;
      expect(args[0]).toBe(file);
      seen[name] = args.map((arg) => typeof arg).join();
    }
    expect(seen).toMatchObject({
      close: "number",
      read: "number,number,number,bigint",
      write: "number,number,number,bigint",
      truncate: "number,bigint",
      fileSize: "number,number",
      unlock: "number,number",
      fileControl: "number,number,number",
      deviceCharacteristics: "number",
    });
  });

  test("an exception in our code reaches SQLite as an I/O error, and the engine goes on", async () => {
    const engine = await startEngine();
    // Pages that are promised and not there.
    expect(() => new Database(engine, { pageSize: 4096, pageCount: 9, chunks: [] })).toThrow(/disk I\/O error/);
    const db = new Database(engine, emptyImage());
    db.exec("CREATE TABLE t (a)");
    db.close();
  });

  test("closing gives everything back: 200 databases leave the engine's memory as it was", async () => {
    const engine = await startEngine();
    const use = (): void => {
      const db = new Database(engine, emptyImage());
      db.exec("CREATE TABLE t (a)");
      const insert = db.prepare("INSERT INTO t VALUES (?)");
      db.transaction(() => insert.run(["x".repeat(200_000)]));
      db.close();
    };
    /** Where a block that fits no gap goes: right behind everything that is still taken. */
    const top = (): Pointer => {
      const block = engine.sqlite._malloc(8 * 1024 * 1024);
      engine.sqlite._free(block);
      return block;
    };
    use();
    const before = top();
    for (let i = 0; i < 200; i++) use();
    expect(top()).toBe(before);
  });
});
