// Lets the worker live and die until the order is done, and writes down all it acknowledged.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { World } from "./world.js";

/**
 * What the worker tells. A step or an acknowledgement is told only after its commit returned.
 * @typedef {{ type: "ready" } | { type: "done" }
 *   | { type: "step", executionId: string, eventId: string, version: number | null, again: boolean }
 *   | { type: "message", seq: number, event: import("perdure").Event }
 *   | { type: "acknowledged", queue: "outbox" | "spawns", seq: number }} Report
 * What the worker is told.
 * @typedef {({ type: "event" } & import("./world.js").Letter) | { type: "received", seq: number }} Instruction
 *
 * @typedef {{ life: number, executionId: string, eventId: string, version: number | null, again: boolean }} Acknowledged
 * @typedef {{ life: number, at: number, ready: boolean, steps: number }} Kill
 * @typedef {object} Ledger
 * @property {Acknowledged[]} steps
 * @property {Kill[]} kills
 * @property {Map<string, number>} sent  event id → how often the world sent it
 * @property {Set<string>} heard  ids of the messages that reached the world
 * @property {string[]} cameBack  queue rows that were there again after their acknowledgement
 */

const WORKER = fileURLToPath(new URL("worker.js", import.meta.url));
const MIN_KILLS = 5;
const MAX_KILLS = 10;

/**
 * @param {object} options
 * @param {string} options.file
 * @param {string} options.orderId
 * @param {() => number} options.random  decides the kills
 * @param {(kill: Kill) => void} options.onKill
 * @returns {Promise<Ledger>}
 */
export async function liveUntilDone({ file, orderId, random, onKill }) {
  /** @type {import("node:child_process").ChildProcess | null} */
  let worker = null;
  /** A letter to a process that just died is lost, as letters are: it will be sent again. */
  /** @param {Instruction} instruction */
  const tell = (instruction) => worker?.connected === true && worker.send(instruction, () => {});
  const world = new World({
    send: (letter) => tell({ type: "event", ...letter }),
    enoughKills: () => ledger.kills.length >= MIN_KILLS,
    paceMs: () => Math.random() * 8,
  });
  /** @type {Ledger} */
  const ledger = { steps: [], kills: [], sent: world.sent, heard: world.heard, cameBack: [] };
  /** @type {Set<string>} */
  const acknowledged = new Set();

  for (let life = 1; ; life++) {
    worker = fork(WORKER, [file, orderId]);
    const plan = ledger.kills.length < MAX_KILLS ? planKill(random) : null;
    const end = await oneLife(worker, plan, (report) => {
      if (report.type === "ready") {
        world.sendAgain();
      } else if (report.type === "step") {
        ledger.steps.push({ life, ...report });
        world.acknowledged(report.eventId);
      } else if (report.type === "message") {
        if (acknowledged.has(`outbox ${report.seq}`)) ledger.cameBack.push(`outbox ${report.seq}`);
        world.hear(report.event);
        tell({ type: "received", seq: report.seq });
      } else if (report.type === "acknowledged") {
        const row = `${report.queue} ${report.seq}`;
        if (acknowledged.has(row)) ledger.cameBack.push(row);
        acknowledged.add(row);
      }
    });
    worker = null;
    if (end.done) return ledger;
    const kill = { life, at: Date.now() / 1000, ready: end.ready, steps: end.steps };
    ledger.kills.push(kill);
    onKill(kill);
  }
}

/**
 * From birth to death, by the plan or because all is done.
 * @param {import("node:child_process").ChildProcess} worker
 * @param {{ afterSteps: number, delayMs: number } | null} plan  null: it may live
 * @param {(report: Report) => void} onReport
 */
async function oneLife(worker, plan, onReport) {
  const life = { ready: false, done: false, steps: 0 };
  /** @type {NodeJS.Timeout | undefined} */
  let killer;
  const countSteps = () => {
    if (life.steps === plan?.afterSteps) killer = setTimeout(() => worker.kill("SIGKILL"), plan.delayMs);
  };
  countSteps();
  worker.on("message", (/** @type {Report} */ report) => {
    if (report.type === "ready") life.ready = true;
    if (report.type === "done") {
      life.done = true;
      clearTimeout(killer);
    }
    onReport(report);
    if (report.type === "step") {
      life.steps += 1;
      countSteps();
    }
  });
  // All that was told before the kill is read before "disconnect".
  const [[code, signal]] = await Promise.all([once(worker, "exit"), once(worker, "disconnect")]);
  clearTimeout(killer);
  if (!life.done && signal !== "SIGKILL") throw new Error(`the worker ended by itself (${signal ?? code}); see above`);
  return life;
}

/** When to kill: some lives end while they open the file, most a moment after one of their first steps. */
/** @param {() => number} random */
function planKill(random) {
  const [when, count, moment] = [random(), random(), random()];
  if (when < 0.2) return { afterSteps: 0, delayMs: 20 + moment * 250 };
  return { afterSteps: 1 + Math.floor(count * 4), delayMs: moment * 6 };
}
