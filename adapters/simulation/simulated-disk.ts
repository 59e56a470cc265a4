// A disk in memory that remembers how everything got there, so that it can be had as a crash would have left it, at any
// moment of its past. Calls fail, are cut short or wait when they are told to. Like a system, it shows programs what they
// wrote at once and makes it durable when they sync. No Node, no browser, no clock: the same seed does the same.
import { Aftermath, type CrashMode } from "./aftermath.ts";
import { Content, type DiskEntry, type DiskImage } from "./disk-image.ts";
import { randomFrom } from "./random.ts";

/** What a program asks of the disk. "names" is for a new name, another name, or one less. */
export type DiskCallKind = "read" | "write" | "truncate" | "sync" | "names" | "sync names";

/** A call that is about to be made. */
export interface DiskCall {
  /** Counted from 0 over the disk's life; reads are not counted, and have the number of the call after them. */
  readonly number: number;
  readonly kind: DiskCallKind;
  /** The file's name, or the first of the names. */
  readonly name: string;
  /** Bytes to be read or written, else 0. */
  readonly bytes: number;
}

/** What goes wrong with a call. */
export interface DiskFault {
  /** The code of the error that it throws: "EIO", "ENOSPC". */
  readonly error?: string;
  /**
   * A write does this many bytes and no more. Without `error` it says so, and whoever writes goes on from there. Default:
   * all of them, with `error` none.
   */
  readonly short?: number;
  /** What it waits for, where it can wait: a sync that is awaited. */
  readonly wait?: Promise<unknown>;
}

export interface SimulatedDiskOptions {
  /** What is there from the beginning, all of it durable. */
  readonly image?: DiskImage;
  /** For crashes that leave something to chance. Default 0. */
  readonly seed?: number;
  /** Bytes that are written whole or not at all. Default 512. */
  readonly sectorBytes?: number;
  /** Asked before each call; what it returns goes wrong, and what it throws is thrown instead of the call. */
  readonly before?: (call: DiskCall) => DiskFault | void;
}

interface SimulatedFile {
  readonly number: number;
  readonly content: Content;
}

const EMPTY: DiskImage = { files: new Map(), names: new Map() };
const DEFAULT_SECTOR_BYTES = 512;

export class SimulatedDisk {
  readonly seed: number;
  readonly sectorBytes: number;
  /** Bytes that all files together may have; more are refused with ENOSPC. */
  capacityBytes = Infinity;
  /** May be changed at any time. */
  before: (call: DiskCall) => DiskFault | void;
  readonly #start: DiskImage;
  readonly #files: Map<number, SimulatedFile> = new Map();
  readonly #names: Map<string, number>;
  readonly #entries: DiskEntry[] = [];
  #calls = 0;
  #lastFile = 0;

  constructor({ image = EMPTY, seed = 0, sectorBytes = DEFAULT_SECTOR_BYTES, before }: SimulatedDiskOptions = {}) {
    this.seed = seed;
    this.sectorBytes = sectorBytes;
    this.before = before ?? (() => {});
    this.#start = image;
    for (const [number, bytes] of image.files) {
      this.#files.set(number, { number, content: new Content(bytes) });
      this.#lastFile = Math.max(this.#lastFile, number);
    }
    this.#names = new Map(image.names);
  }

  /** What was there at the beginning. */
  get start(): DiskImage {
    return this.#start;
  }

  /** All that happened since. */
  get entries(): readonly DiskEntry[] {
    return this.#entries;
  }

  /** How many calls were made, reads not counted. */
  get calls(): number {
    return this.#calls;
  }

  get names(): string[] {
    return [...this.#names.keys()].sort();
  }

  /** The number of the file that a name means, or null. */
  find(name: string): number | null {
    return this.#names.get(name) ?? null;
  }

  /** Makes a new, empty file. The name must be free. */
  create(name: string): number {
    if (this.#names.has(name)) throw systemError("EEXIST", name);
    const number = this.#lastFile + 1;
    this.#rename(name, [[name, number]]);
    this.#lastFile = number;
    this.#files.set(number, { number, content: new Content() });
    return number;
  }

  /** A second name for a file. */
  link(from: string, to: string): void {
    if (this.#names.has(to)) throw systemError("EEXIST", to);
    this.#rename(to, [[to, this.#existing(from)]]);
  }

  /** Another name for a file; what had that name has it no more. */
  rename(from: string, to: string): void {
    const file = this.#existing(from);
    this.#rename(to, [
      [to, file],
      [from, null],
    ]);
  }

  remove(name: string): void {
    this.#existing(name);
    this.#rename(name, [[name, null]]);
  }

  size(file: number): number {
    return this.#open(file).content.size;
  }

  /** Fills `target` from `at`; returns how many bytes were there. */
  read(file: number, target: Uint8Array, at: number): number {
    this.#refuse(this.#ask("read", this.#nameOf(file), target.length), this.#nameOf(file));
    const part = this.#open(file).content.bytes.subarray(at, at + target.length);
    target.set(part);
    return part.length;
  }

  /** Returns how many bytes were written, at least one. */
  write(file: number, bytes: Uint8Array, at: number): number {
    const { content } = this.#open(file);
    const name = this.#nameOf(file);
    const fault = this.#begin("write", name, bytes.length);
    const room = Math.max(0, content.size + this.capacityBytes - this.#usedBytes() - at);
    const most = Math.min(bytes.length, room, fault?.short ?? (fault?.error === undefined ? Infinity : 0));
    if (most > 0) {
      content.write(bytes.subarray(0, most), at);
      this.#entries.push({ kind: "write", file, at, bytes: bytes.slice(0, most) });
    }
    this.#refuse(fault, name);
    if (most === 0 && bytes.length > 0) throw systemError("ENOSPC", name);
    return most;
  }

  truncate(file: number, size: number): void {
    const name = this.#nameOf(file);
    this.#refuse(this.#begin("truncate", name, 0), name);
    this.#open(file).content.resize(size);
    this.#entries.push({ kind: "truncate", file, size });
  }

  /** Makes durable what was written to a file. */
  sync(file: number): void {
    const name = this.#nameOf(file);
    this.#finishSync("sync", file, name, this.#entries.length, this.#begin("sync", name, 0));
  }

  /** The same, where a fault may have it wait; what is written meanwhile is not part of it. */
  async syncAwaiting(file: number): Promise<void> {
    const name = this.#nameOf(file);
    const upTo = this.#entries.length;
    const fault = this.#begin("sync", name, 0);
    await fault?.wait;
    this.#finishSync("sync", file, name, upTo, fault);
  }

  /** Makes durable which names there are and what they mean. */
  syncNames(): void {
    this.#finishSync("sync names", 0, "names", this.#entries.length, this.#begin("sync names", "names", 0));
  }

  /** What lies there now. */
  image(): DiskImage {
    return this.#aftermath().kill();
  }

  /** Another disk, as a crash now would leave this one. */
  crash(mode: CrashMode): SimulatedDisk {
    const aftermath = this.#aftermath();
    const random = randomFrom(this.seed, "crash", this.#entries.length);
    const image =
      mode === "torn"
        ? aftermath.torn(random, this.sectorBytes)
        : mode === "lost"
          ? aftermath.lost()
          : aftermath.kill();
    return new SimulatedDisk({ image, seed: this.seed, sectorBytes: this.sectorBytes });
  }

  #aftermath(): Aftermath {
    const aftermath = new Aftermath(this.#start);
    for (const entry of this.#entries) aftermath.follow(entry);
    return aftermath;
  }

  #rename(name: string, changes: readonly (readonly [string, number | null])[]): void {
    this.#refuse(this.#begin("names", name, 0), name);
    for (const [one, file] of changes) {
      if (file === null) this.#names.delete(one);
      else this.#names.set(one, file);
    }
    this.#entries.push({ kind: "names", changes });
  }

  #finishSync(kind: "sync" | "sync names", file: number, name: string, upTo: number, fault: DiskFault | null): void {
    const ok = fault?.error === undefined;
    this.#entries.push(kind === "sync" ? { kind, file, upTo, ok } : { kind, upTo, ok });
    this.#refuse(fault, name);
  }

  #begin(kind: DiskCallKind, name: string, bytes: number): DiskFault | null {
    const fault = this.#ask(kind, name, bytes);
    this.#calls++;
    return fault;
  }

  #ask(kind: DiskCallKind, name: string, bytes: number): DiskFault | null {
    return this.before({ number: this.#calls, kind, name, bytes }) ?? null;
  }

  #refuse(fault: DiskFault | null, name: string): void {
    if (fault?.error !== undefined) throw systemError(fault.error, name);
  }

  #existing(name: string): number {
    const file = this.#names.get(name);
    if (file === undefined) throw systemError("ENOENT", name);
    return file;
  }

  #open(file: number): SimulatedFile {
    const found = this.#files.get(file);
    if (found === undefined) throw systemError("EBADF", `file ${file}`);
    return found;
  }

  #nameOf(file: number): string {
    for (const [name, number] of this.#names) if (number === file) return name;
    return `file ${file}`;
  }

  #usedBytes(): number {
    if (this.capacityBytes === Infinity) return 0;
    return [...this.#files.values()].reduce((sum, { content }) => sum + content.size, 0);
  }
}

/** An error as the system's are. */
export function systemError(code: string, name: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${name}`), { code });
}
