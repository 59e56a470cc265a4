// Runs one measurement in a fresh process and hands back its result: node task.js NAME, options by message.
import { fork } from "node:child_process";

/**
 * @template T
 * @param {string} name a module in tasks/, whose `run` takes the options and gives the result
 * @param {object} options
 * @returns {Promise<T>}
 */
export function runTask(name, options) {
  return new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, [name], { execArgv: ["--expose-gc"], serialization: "advanced" });
    child.on("message", (/** @type {{ result: T } | { error: string }} */ message) => {
      if ("error" in message) reject(new Error(message.error));
      else resolve(message.result);
    });
    child.on("exit", (code, signal) => reject(new Error(`task ${name} died: ${signal ?? code}`)));
    child.send(options);
  });
}

/** Frees what can be freed, so that it is not counted. */
export function collectGarbage() {
  globalThis.gc?.();
}

if (process.argv[1] === import.meta.filename && process.send !== undefined) {
  process.once("message", (options) => {
    import(`./tasks/${process.argv[2]}.js`)
      .then(({ run }) => run(options))
      .then(
        (result) => process.send?.({ result }, () => process.exit()),
        (error) => process.send?.({ error: error.stack }, () => process.exit(1)),
      );
  });
}
