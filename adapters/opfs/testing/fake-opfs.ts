// An origin private file system in memory, for tests: exclusive handles, calls that fail or do less than asked, and what
// a kill or a power cut leaves. Not part of the package.
import type { OpfsDirectory, OpfsFileHandle, SyncAccessHandle } from "../platform.ts";

/** Every call there is. The first four are asynchronous. */
export type Call =
  | "getFileHandle"
  | "createSyncAccessHandle"
  | "getFile"
  | "removeEntry"
  | "read"
  | "write"
  | "truncate"
  | "getSize"
  | "flush";

/** What a disk writes whole or not at all. */
export const SECTOR_BYTES = 512;

type Change = { readonly at: number; readonly bytes: Uint8Array } | { readonly size: number };

interface Entry {
  readonly now: Bytes;
  /** What is safe from a power cut. */
  readonly durable: Bytes;
  /** What was done since, in order. */
  changes: Change[];
  handle: SyncAccessHandle | null;
  /** Handles that were given away while their worker still ran. */
  readonly undead: Set<SyncAccessHandle>;
}

/** What becomes of a change that was not flushed when the power went. */
export type Fate = "kept" | "lost" | "torn";

export class FakeOpfs {
  readonly #entries: Map<string, Entry> = new Map();
  /** Asked ahead of every call; it may throw the fault, or return how many bytes a read or a write gets done. */
  before: (call: Call, name: string, bytes: number) => number | void = () => {};

  /** Told of every handle that is closed. */
  closing: (name: string) => void = () => {};

  readonly directory: OpfsDirectory = {
    getFileHandle: async (name, { create = false } = {}) => {
      await Promise.resolve();
      this.before("getFileHandle", name, 0);
      if (!this.#entries.has(name)) {
        if (!create) throw domError("NotFoundError");
        this.put(name, new Uint8Array(0));
      }
      return this.#fileHandle(name);
    },
    removeEntry: async (name) => {
      await Promise.resolve();
      this.before("removeEntry", name, 0);
      const entry = this.#entries.get(name);
      if (entry === undefined) throw domError("NotFoundError");
      if (entry.handle !== null) throw domError("NoModificationAllowedError");
      this.#entries.delete(name);
    },
  };

  put(name: string, bytes: Uint8Array): void {
    this.#entries.set(name, {
      now: new Bytes(bytes),
      durable: new Bytes(bytes),
      changes: [],
      handle: null,
      undead: new Set(),
    });
  }

  /** Every file with its bytes. */
  files(): Record<string, Uint8Array> {
    const sorted = [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, { now }]) => [name, now.copy()]));
  }

  /** Files that somebody has open. */
  get locked(): string[] {
    return [...this.#entries].filter(([, { handle }]) => handle !== null).map(([name]) => name);
  }

  /** The browser closes a file behind the adapter's back. */
  closeBehind(name: string): void {
    this.#entries.get(name)!.handle!.close();
  }

  /** A worker is ended: others get its files, and for a moment it goes on writing to them. As Chromium does it. */
  endWorker(): void {
    for (const entry of this.#entries.values()) {
      if (entry.handle !== null) entry.undead.add(entry.handle);
      entry.handle = null;
    }
  }

  /** Files hold this now, whoever has them open. */
  lay(files: Readonly<Record<string, Uint8Array>>): void {
    for (const [name, bytes] of Object.entries(files)) {
      if (!this.#entries.has(name)) this.put(name, new Uint8Array(0));
      const { now } = this.#entries.get(name)!;
      now.apply({ size: 0 }, "kept");
      now.apply({ at: 0, bytes }, "kept");
    }
  }

  /** A byte rots where it lies. */
  rot(name: string, at: number): void {
    const { now } = this.#entries.get(name)!;
    now.apply({ at, bytes: Uint8Array.of(now.copy()[at]! ^ 0xff) }, "kept");
  }

  /** The site's data is cleared: open handles go on over files that are nowhere any more. */
  clear(): void {
    this.#entries.clear();
  }

  /** What the next worker finds after this one was killed now. */
  afterKill(): FakeOpfs {
    const copy = new FakeOpfs();
    for (const [name, bytes] of Object.entries(this.files())) copy.put(name, bytes);
    return copy;
  }

  /** What is found after a power cut now. */
  afterPowerCut(fate: () => Fate): FakeOpfs {
    const copy = new FakeOpfs();
    for (const [name, { durable, changes }] of this.#entries) {
      const left = new Bytes(durable.copy());
      for (const change of changes) left.apply(change, fate());
      copy.put(name, left.copy());
    }
    return copy;
  }

  #fileHandle(name: string): OpfsFileHandle {
    return {
      kind: "file",
      getFile: async () => {
        await Promise.resolve();
        this.before("getFile", name, 0);
        const entry = this.#entries.get(name);
        if (entry === undefined) throw domError("NotFoundError");
        return new Blob([new Uint8Array(entry.now.copy())]);
      },
      createSyncAccessHandle: async () => {
        await Promise.resolve();
        this.before("createSyncAccessHandle", name, 0);
        const entry = this.#entries.get(name);
        if (entry === undefined) throw domError("NotFoundError");
        if (entry.handle !== null) throw domError("NoModificationAllowedError");
        entry.handle = this.#accessHandle(name, entry);
        return entry.handle;
      },
    };
  }

  #accessHandle(name: string, entry: Entry): SyncAccessHandle {
    const ask = (call: Call, bytes = 0): number => {
      if (entry.handle !== handle && !entry.undead.has(handle)) throw domError("InvalidStateError");
      return this.before(call, name, bytes) ?? bytes;
    };
    const change = (one: Change): void => {
      entry.now.apply(one, "kept");
      entry.changes.push(one);
    };
    const handle: SyncAccessHandle = {
      read(target, { at }) {
        return entry.now.read(target.subarray(0, ask("read", target.length)), at);
      },
      write(bytes, { at }) {
        const count = ask("write", bytes.length);
        change({ at, bytes: bytes.slice(0, count) });
        return count;
      },
      truncate(size) {
        ask("truncate");
        change({ size });
      },
      getSize() {
        ask("getSize");
        return entry.now.size;
      },
      flush() {
        ask("flush");
        for (const one of entry.changes) entry.durable.apply(one, "kept");
        entry.changes = [];
      },
      close: () => {
        this.closing(name);
        if (entry.handle === handle) entry.handle = null;
      },
    };
    return handle;
  }
}

/** Bytes that grow. */
class Bytes {
  #buffer: Uint8Array;
  size: number;

  constructor(bytes: Uint8Array) {
    this.#buffer = new Uint8Array(bytes); // a Buffer's slice would share its memory
    this.size = bytes.length;
  }

  copy(): Uint8Array {
    return this.#buffer.slice(0, this.size);
  }

  read(target: Uint8Array, at: number): number {
    const part = this.#buffer.subarray(Math.min(at, this.size), Math.min(at + target.length, this.size));
    target.set(part);
    return part.length;
  }

  apply(change: Change, fate: Fate): void {
    if (fate === "lost") return;
    if ("size" in change) {
      this.#buffer.fill(0, Math.min(change.size, this.size), this.size);
      this.#resize(change.size);
      return;
    }
    const half = Math.floor(change.bytes.length / 2 / SECTOR_BYTES) * SECTOR_BYTES;
    const bytes = fate === "torn" ? change.bytes.subarray(0, half) : change.bytes;
    this.#resize(Math.max(this.size, change.at + bytes.length));
    this.#buffer.set(bytes, change.at);
  }

  #resize(size: number): void {
    if (size > this.#buffer.length) {
      const larger = new Uint8Array(size * 2);
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    this.size = size;
  }
}

export function domError(name: string): DOMException {
  return new DOMException(name, name);
}
