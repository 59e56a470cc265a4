// The window of a test page: `lab` for whatever a test evaluates, and the same in a dedicated worker.
import { type Lab, lab } from "./lab.ts";
import type { InWorker, WorkerAnswer, WorkerCall } from "./worker-call.ts";

let worker: Worker | null = null;
let calls = 0;

/** Calls one of the lab's functions in the page's dedicated worker. */
const inWorker = ((name, ...args) => {
  // Under the same policy: a worker has that of its own response, not its page's.
  const one = (worker ??= new Worker(`/worker.js${location.search}`, { type: "module" }));
  const call = calls++;
  return new Promise<never>((resolve, reject) => {
    const settle = ({ data }: MessageEvent<WorkerAnswer>): void => {
      if (data.call !== call) return;
      one.removeEventListener("message", settle);
      if (data.error === undefined) resolve(data.value as never);
      else reject(new Error(data.error));
    };
    one.addEventListener("message", settle);
    one.addEventListener("error", (event) => reject(new Error(event.message)), { once: true });
    one.postMessage({ call, name, args } satisfies WorkerCall);
  });
}) as InWorker;

/** What a test evaluates in a window finds. */
export type WindowLab = Lab & { readonly inWorker: InWorker };

Object.assign(globalThis, { lab: { ...lab, inWorker } satisfies WindowLab });
