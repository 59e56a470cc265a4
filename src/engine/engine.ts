// Loads our own copy of stock sql.js and finds what it does not hand out: its memory and its function table. Everything
// that depends on how sql.js was compiled is here and in vfs.ts; engine.test.ts pins all of it.
// The glue is imported statically and only the wasm lazily: service workers forbid import(), and with the `wasm` option
// there is none.
import initSqlJs from "virtual:sql.js/glue";
import { EngineFailed } from "../errors.ts";
import { installVfs, type Vfs } from "./vfs.ts";

/** A pointer into the engine's memory. */
export type Pointer = number;

/** The few things of sql.js that are used. Not @types/sql.js: that is behind, and must not show in our own types. */
export interface SqlJs {
  _malloc(bytes: number): Pointer;
  _free(pointer: Pointer): void;
  addFunction(fn: (...args: never[]) => number, signature: string): Pointer;
  stringToNewUTF8(text: string): Pointer;
  UTF8ToString(pointer: Pointer): string;
  _sqlite3_open(name: Pointer, db: Pointer): number;
  _sqlite3_close_v2(db: Pointer): number;
  _sqlite3_exec(db: Pointer, sql: Pointer, callback: 0, argument: 0, message: 0): number;
  _sqlite3_prepare_v2(db: Pointer, sql: Pointer, bytes: number, statement: Pointer, tail: Pointer): number;
  _sqlite3_finalize(statement: Pointer): number;
  _sqlite3_step(statement: Pointer): number;
  _sqlite3_reset(statement: Pointer): number;
  _sqlite3_bind_text(statement: Pointer, index: number, text: Pointer, bytes: number, destructor: 0): number;
  _sqlite3_bind_int(statement: Pointer, index: number, value: number): number;
  _sqlite3_bind_double(statement: Pointer, index: number, value: number): number;
  _sqlite3_clear_bindings(statement: Pointer): number;
  _sqlite3_column_type(statement: Pointer, column: number): number;
  _sqlite3_column_double(statement: Pointer, column: number): number;
  _sqlite3_column_text(statement: Pointer, column: number): Pointer;
  _sqlite3_column_bytes(statement: Pointer, column: number): number;
  _sqlite3_changes(db: Pointer): number;
  _sqlite3_errmsg(db: Pointer): Pointer;
  _sqlite3_extended_errcode(db: Pointer): number;
}

/** Options for loading the engine. */
export interface EngineOptions {
  /** The bytes of sql.js's wasm file, for places where `import()` is forbidden. Default: the copy built in. */
  readonly wasm?: ArrayBuffer | Uint8Array;
}

/** A running sql.js, its memory, and our VFS inside it. One serves all stores of the process. */
export interface Engine {
  readonly sqlite: SqlJs;
  readonly memory: Memory;
  readonly vfs: Vfs;
}

/** Views of WebAssembly memory. Growing it detaches them, and any call into the engine may grow it. */
export class Memory {
  readonly #memory: WebAssembly.Memory;
  #bytes: Uint8Array;
  #view: DataView;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#view = new DataView(memory.buffer);
  }

  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes;
  }

  get view(): DataView {
    if (this.#view.buffer !== this.#memory.buffer) this.#view = new DataView(this.#memory.buffer);
    return this.#view;
  }
}

let shared: Promise<Engine> | null = null;

/** The process's engine. Loaded on first use; a load that fails is not remembered. */
export function loadEngine(options: EngineOptions = {}): Promise<Engine> {
  shared ??= startEngine(options).catch((error: unknown) => {
    shared = null;
    throw error;
  });
  return shared;
}

/** Starts an engine of its own. Throws `EngineFailed`. */
export async function startEngine({ wasm }: EngineOptions = {}): Promise<Engine> {
  try {
    const module = await WebAssembly.compile((wasm ?? (await builtInWasm())) as BufferSource);
    return await new Promise<Engine>((resolve, reject) => {
      let instance: WebAssembly.Instance;
      initSqlJs({
        instantiateWasm(imports, done) {
          // Were this to throw inside sql.js, its promise would never settle.
          WebAssembly.instantiate(module, imports).then((made) => {
            instance = made;
            done(made, module);
          }, reject);
          return {};
        },
      }).then((sqlite) => {
        const memory = new Memory(findExport(instance, WebAssembly.Memory));
        const vfs = installVfs(sqlite, memory, findExport(instance, WebAssembly.Table));
        resolve({ sqlite, memory, vfs });
      }, reject);
    });
  } catch (cause) {
    if (cause instanceof EngineFailed) throw cause;
    const remedy = "where there is a content security policy, add 'wasm-unsafe-eval' to its script-src";
    throw new EngineFailed(`WebAssembly could not be compiled; ${remedy}`, { cause });
  }
}

/** sql.js minifies its export names, so its memory and its table are found by type. */
function findExport<T>(instance: WebAssembly.Instance, type: new (...args: never[]) => T): T {
  const found = Object.values(instance.exports).filter((value): value is never => value instanceof type);
  if (found.length !== 1) throw new EngineFailed(`expected one ${type.name} in sql.js, found ${found.length}`);
  return found[0]!;
}

async function builtInWasm(): Promise<Uint8Array> {
  const { default: base64 } = await import("virtual:sql.js/wasm");
  const text = atob(base64);
  const gzipped = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) gzipped[i] = text.charCodeAt(i);
  return unzip(gzipped);
}

/** By hand: for a Response, Node would load all of its `fetch` first. */
async function unzip(gzipped: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  // What fails here fails the reading too.
  writer.write(gzipped).catch(() => {});
  writer.close().catch(() => {});
  const parts: Uint8Array[] = [];
  const reader = stream.readable.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) parts.push(step.value);
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
