// Helpers of this folder's tests: databases on fresh images, copies of them, and an engine whose VFS calls are seen.
import initSqlJs from "virtual:sql.js/glue";
import base64 from "virtual:sql.js/wasm";
import { gunzipSync } from "node:zlib";
import { CHUNK_BYTES, type LoadedImage, type PageDelta, type Pages } from "../port.ts";
import { Database } from "./database.ts";
import { type Engine, Memory, type Pointer, type SqlJs } from "./engine.ts";
import { installVfs } from "./vfs.ts";

/** An image with nothing in it. */
export function emptyImage(pageSize: number = 4096): LoadedImage {
  return { pageSize, pageCount: 0, chunks: [] };
}

/** A copy of a database's pages, as an adapter would load it. */
export function copyOf(pages: Pages): LoadedImage {
  const { pageSize, pageCount } = pages;
  const length = Math.ceil((pageSize * pageCount) / CHUNK_BYTES);
  const chunks = Array.from({ length }, () => new Uint8Array(CHUNK_BYTES));
  for (let number = 1; number <= pageCount; number++) {
    const at = (number - 1) * pageSize;
    chunks[Math.floor(at / CHUNK_BYTES)]!.set(pages.page(number), at % CHUNK_BYTES);
  }
  return { pageSize, pageCount, chunks };
}

/** A settled database with rows `1…rows` in a table `t`, each with a text of 100 bytes. */
export function filled(engine: Engine, rows: number, { pageSize = 4096, pragma = "" } = {}): Database {
  const db = new Database(engine, emptyImage(pageSize));
  db.exec(`${pragma}; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)`);
  const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  db.transaction(() => {
    for (let i = 1; i <= rows; i++) insert.run([i, `${i}`.padEnd(100, ".")]);
  });
  db.settle();
  return db;
}

/** What a transaction wrote, as bytes of its own. */
export function written(db: Database): PageDelta {
  const delta = db.delta()!;
  return { ...delta, pages: new Map([...delta.pages].map(([number, bytes]) => [number, bytes.slice()])) };
}

/** The first column of every row. */
export function texts(db: Database, sql: string): (string | null)[] {
  const statement = db.prepare(sql);
  const rows = statement.all([], (row) => row.text(0));
  db.discard(statement);
  return rows;
}

/** "ok", or what SQLite finds wrong. */
export function integrity(db: Database): string {
  return texts(db, "PRAGMA integrity_check").join("\n");
}

/** Stock sql.js, started as the engine starts it, with nothing of ours in it. */
export async function startStock(): Promise<{ sqlite: SqlJs; instance: WebAssembly.Instance }> {
  const module = await WebAssembly.compile(gunzipSync(Buffer.from(base64, "base64")));
  let instance: WebAssembly.Instance | undefined;
  const sqlite = await initSqlJs({
    instantiateWasm(imports, done) {
      instance = new WebAssembly.Instance(module, imports);
      done(instance, module);
      return {};
    },
  });
  if (instance === undefined) throw new Error("sql.js did not ask for an instance");
  return { sqlite, instance };
}

/** What an instance exports of a kind. */
export function exportsOf<T>(instance: WebAssembly.Instance, type: new (...args: never[]) => T): T[] {
  return Object.values(instance.exports).filter((value): value is never => value instanceof type);
}

/** A call of SQLite's into our VFS. */
export interface VfsCall {
  readonly pointer: Pointer;
  readonly args: readonly (number | bigint)[];
}

/** An engine like `startEngine`'s, which records every call SQLite makes into our VFS. */
export async function startWatchedEngine(): Promise<
  Engine & { readonly table: WebAssembly.Table; readonly calls: VfsCall[] }
> {
  const { sqlite, instance } = await startStock();
  const calls: VfsCall[] = [];
  const watched: SqlJs = Object.create(sqlite, {
    addFunction: {
      value(run: (...args: (number | bigint)[]) => number, signature: string): Pointer {
        const pointer: Pointer = sqlite.addFunction((...args: (number | bigint)[]) => {
          calls.push({ pointer, args });
          return run(...args);
        }, signature);
        return pointer;
      },
    },
  });
  const memory = new Memory(exportsOf(instance, WebAssembly.Memory)[0]!);
  const table = exportsOf(instance, WebAssembly.Table)[0]!;
  return { sqlite, memory, vfs: installVfs(watched, memory, table), table, calls };
}
