// Starts a child and reads what it says line by line.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** @typedef {{ code: number | null, signal: string | null, errors: string }} End */

/**
 * @param {string} script  in children/
 * @param {object | string} options  its one argument; an object goes as JSON
 * @param {object} [more]
 * @param {string[]} [more.command]  what runs it, default Node
 * @param {(line: string) => void} [more.onLine]
 * @param {NodeJS.ProcessEnv} [more.env]
 */
export function startChild(script, options, { command = [process.execPath], onLine = () => {}, env = {} } = {}) {
  const [program = "", ...args] = command;
  const path = fileURLToPath(new URL(`children/${script}`, import.meta.url));
  const argument = typeof options === "string" ? options : JSON.stringify(options);
  const child = spawn(program, [...args, path, argument], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  /** Who waits for the next lines. @type {((line: string) => void)[]} */
  const waiting = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    onLine(line);
    waiting.shift()?.(line);
  });
  /** The next line it says. A child that ends instead is an error. */
  const nextLine = () =>
    Promise.race([
      new Promise((/** @type {(line: string) => void} */ resolve) => waiting.push(resolve)),
      ended.then(({ code, signal }) => Promise.reject(new Error(`${script} ended (${signal ?? code}): ${errors}`))),
    ]);
  /** All it said was read. @type {Promise<End>} */
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, errors }));
  return {
    ended,
    kill: () => child.kill("SIGKILL"),
    /** @param {NodeJS.Signals} name */
    signal: (name) => child.kill(name),
    pid: child.pid,
    nextLine,
    /** Says a line and gives what it answers. @param {string} line */
    ask(line) {
      child.stdin.write(`${line}\n`);
      return nextLine();
    },
    /** It will be told nothing more. */
    hangUp: () => child.stdin.end(),
  };
}
