// The order's life as its file remembers it: the traces of all its Executions in the order of time, and where the kills
// fell in between.
import { bold, cyan, dim, fit, red, say, yellow } from "./print.js";

/**
 * @param {import("./audit.js").TracedStep[]} steps
 * @param {string} orderId
 * @param {import("./lives.js").Ledger} ledger
 */
export function printTimeline(steps, orderId, ledger) {
  const kills = [...ledger.kills];
  const start = steps[0]?.at ?? 0;
  for (const step of steps) {
    for (; kills[0] !== undefined && kills[0].at < step.at; kills.shift()) printKill(kills[0], start);
    const who = step.id === orderId ? "order" : nameOf(step.id);
    const what = step.event.kind.replaceAll("_", " ");
    const where = step.to === step.from ? "" : `→ ${step.to}`;
    const version = dim(fit(`v${step.index + 1}`, 3));
    const line = `${dim(clock(step.at - start))}  ${cyan(fit(who, 8))} ${version}  ${bold(fit(what, 12))} ${fit(where, 32)}`;
    say(`  ${line} ${notes(step, ledger)}`.trimEnd());
  }
  for (const kill of kills) printKill(kill, start);
}

/** @param {import("./lives.js").Kill} kill @param {number} start */
function printKill({ life, at, ready, steps }, start) {
  const when = ready ? `${steps} ${steps === 1 ? "step" : "steps"} after it woke` : "before its first word";
  say(red(`  ${clock(at - start)}  ── SIGKILL ── process ${life}, ${when} ${"─".repeat(24)}`));
}

/** `…:Order.Fulfil.Pack:1` → `pack`. @param {string} id */
const nameOf = (id) => (id.split(":").at(-2) ?? id).split(".").at(-1)?.toLowerCase() ?? id;

/** @param {number} seconds */
const clock = (seconds) => `${seconds.toFixed(3).padStart(7)} s`;

/** @param {import("./audit.js").TracedStep} step @param {import("./lives.js").Ledger} ledger */
function notes({ id, event, timers, spawns }, ledger) {
  const told = ledger.steps.find((step) => step.executionId === id && step.eventId === event.id);
  const sent = ledger.sent.get(event.id) ?? 1;
  const plain = spawns.map((child) => `+ ${nameOf(child)}`);
  if (timers.some(({ op }) => op === "schedule")) plain.push("timer set");
  const odd = [];
  if (sent > 1) odd.push(`sent ${sent}×`);
  if (told === undefined) odd.push("killed before it could tell");
  else if (told.again) odd.push("had landed before the kill");
  return [dim(plain.join(", ")), yellow(odd.join(", "))].join(plain.length > 0 && odd.length > 0 ? "  " : "");
}
