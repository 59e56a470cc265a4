// What the file adapter's tests share: a folder of their own, and node:fs with faults. Not part of the package.
import * as fsNamespace from "node:fs";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { newExecution } from "../../src/records/codec.ts";
import type { Execution } from "../../src/records/structs.ts";

/** A fresh folder, gone when the test is over. Where faults are made up no real disk is needed: memory does. */
export function temporaryFolder(onFinished: (done: () => void) => void, kind: "disk" | "memory" = "disk"): string {
  const parent = kind === "memory" && fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir();
  const folder = fs.mkdtempSync(path.join(parent, "perdure-test-"));
  onFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Every file of a folder with its bytes, to see that nothing was touched. */
export function contents(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder).sort();
  return Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(folder, name)).toString("hex")]));
}

export function sample(id: string, note = ""): Execution {
  return newExecution({ id, definition_id: "order", context: { note } });
}

/** The calls that change what is stored, or make it last. */
const CALLS = [
  "writeSync",
  "fdatasyncSync",
  "fsyncSync",
  "linkSync",
  "renameSync",
  "ftruncateSync",
  "unlinkSync",
  "rmSync",
] as const;
export type Call = (typeof CALLS)[number];

/**
 * Runs `work` with `before` asked ahead of every such call; it may throw the fault, or return a shorter count of bytes
 * for a write. Node keeps one binding of its built-in modules for everybody, so nothing else may use files meanwhile.
 */
export async function withCalls<T>(
  before: (call: Call, bytes: number) => number | void,
  work: () => Promise<T> | T,
): Promise<T> {
  const real = { ...fsNamespace } as Record<string, unknown>;
  const mutable = fs as unknown as Record<string, unknown>;
  for (const call of CALLS) {
    const original = real[call] as (...args: unknown[]) => unknown;
    mutable[call] = (...args: unknown[]) => {
      const isWrite = call === "writeSync";
      const short = before(call, isWrite ? (args[3] as number) : 0);
      if (isWrite && typeof short === "number") return original(args[0], args[1], args[2], short, args[4]);
      return original(...args);
    };
  }
  // The awaiting adapter syncs through this one.
  const fdatasync = real["fdatasync"] as (fd: number, done: (error: Error | null) => void) => void;
  mutable["fdatasync"] = (fd: number, done: (error: Error | null) => void) => {
    try {
      before("fdatasyncSync", 0);
    } catch (error) {
      setImmediate(() => done(error as Error));
      return;
    }
    fdatasync(fd, done);
  };
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    for (const call of [...CALLS, "fdatasync"]) mutable[call] = real[call];
    syncBuiltinESMExports();
  }
}

/** Runs `work` with `before` asked ahead of every file that is opened; it may throw the fault. */
export async function withOpens<T>(before: (file: string) => void, work: () => Promise<T> | T): Promise<T> {
  const original = fs.openSync;
  fs.openSync = (file, ...more) => {
    before(String(file));
    return original(file, ...more);
  };
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    fs.openSync = original;
    syncBuiltinESMExports();
  }
}

export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
