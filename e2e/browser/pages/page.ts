// The window of a test page: `lab` for whatever a test evaluates, and the same in a dedicated worker.
import { type Lab, lab, type Outcome } from "./lab.ts";

let worker: Worker | null = null;
let calls = 0;

/** Runs a scenario in the page's dedicated worker. */
async function scenarioInWorker(target: string, index: number): Promise<Outcome> {
  worker ??= new Worker("/worker.js", { type: "module" });
  const one = worker;
  const call = calls++;
  return new Promise((resolve, reject) => {
    const settle = (event: MessageEvent<{ call: number; outcome?: Outcome; error?: string }>): void => {
      if (event.data.call !== call) return;
      one.removeEventListener("message", settle);
      if (event.data.outcome !== undefined) resolve(event.data.outcome);
      else reject(new Error(event.data.error));
    };
    one.addEventListener("message", settle);
    one.addEventListener("error", (event) => reject(new Error(event.message)), { once: true });
    one.postMessage({ call, target, index });
  });
}

/** What a test evaluates in a window finds. */
export type WindowLab = Lab & { readonly scenarioInWorker: typeof scenarioInWorker };

Object.assign(globalThis, { lab: { ...lab, scenarioInWorker } satisfies WindowLab });
