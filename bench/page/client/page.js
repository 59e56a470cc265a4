// What the run outside calls in the page: passes messages to contenders here or to the worker of each.
import { handle } from "./host.js";

/** @typedef {import("./host.js").Message} Message */
/** @typedef {Awaited<ReturnType<typeof handle>>} Answer */

/** @type {Map<string, (message: Message | null) => Promise<Answer>>} */
const workers = new Map();

function startWorker() {
  const worker = new Worker("/worker.js", { type: "module" });
  /** @type {Map<number, { resolve(value: any): void, reject(error: Error): void }>} */
  const waiting = new Map();
  let last = 0;
  worker.addEventListener("message", ({ data: { id, result, error } }) => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve(result);
    else one?.reject(new Error(error));
  });
  worker.addEventListener("error", ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(message));
  });
  return (/** @type {Message | null} */ message) =>
    new Promise((resolve, reject) => {
      if (message === null) {
        worker.terminate();
        resolve(null);
        return;
      }
      waiting.set(++last, { resolve, reject });
      worker.postMessage({ id: last, message });
    });
}

/** @param {Message} message @returns {Promise<Answer>} */
async function ask(message) {
  const { key } = message;
  if (message.where === "worker" && !workers.has(key)) workers.set(key, startWorker());
  const worker = workers.get(key);
  const answer = await (worker ?? handle)(message);
  if (worker !== undefined && message.do === "close") {
    await worker(null);
    workers.delete(key);
  }
  return answer;
}

Object.assign(globalThis, {
  bench: {
    ask,
    /** @param {Parameters<typeof import("./observe.js").observe>} what */
    observe: async (...what) => (await import("./observe.js")).observe(...what),
  },
});
