// Code written once for adapters that block and for those that wait: it yields where one of them would block. Knows no
// file system.
import type { RandomAccessFile } from "./random-access-file.ts";

/** What takes long: an asynchronous adapter awaits it, a synchronous one blocks. */
type Pause =
  | { readonly kind: "sync"; readonly file: RandomAccessFile }
  | { readonly kind: "sleep"; readonly ms: number };

/** Code written once for both kinds of adapter: it yields where it would block. */
export type Program<T> = Generator<Pause, T, void>;

/** Runs a program, blocking. */
export function runBlocking<T>(program: Program<T>): T {
  let step = program.next();
  while (step.done !== true) {
    try {
      if (step.value.kind === "sync") step.value.file.sync();
      else sleepBlocking(step.value.ms);
    } catch (error) {
      step = program.throw(error);
      continue;
    }
    step = program.next();
  }
  return step.value;
}

/** Runs a program, awaiting. */
export async function runAwaiting<T>(program: Program<T>): Promise<T> {
  let step = program.next();
  while (step.done !== true) {
    try {
      const pause = step.value;
      if (pause.kind === "sync") await pause.file.syncAwaiting();
      else await new Promise((resolve) => setTimeout(resolve, pause.ms));
    } catch (error) {
      step = program.throw(error);
      continue;
    }
    step = program.next();
  }
  return step.value;
}

let sleeper: Int32Array | null = null;

function sleepBlocking(ms: number): void {
  // Made when it is needed: a page that is not isolated has no such buffers, and nothing in it sleeps.
  sleeper ??= new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(sleeper, 0, 0, ms);
}
