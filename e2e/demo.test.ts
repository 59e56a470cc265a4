// The main job: `npm start` ends well, and would not if anything were missing or doubled.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newExecution, SqliteStore } from "perdure";
import { expect, test } from "vitest";
import { audit } from "../demo/audit.js";
import { begin, react } from "../demo/chart.js";
import { orderChart } from "../demo/order-chart.js";

const MAIN = fileURLToPath(new URL("../demo/main.js", import.meta.url));

test("L1 L2 an order survives at least five kills", { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "perdure-start-"));
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, TMPDIR: folder },
  });
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: "" });
  expect(Number(/after (\d+) kills/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(5);
  expect(stdout.match(/✓/g)).toHaveLength(6);
  expect(stdout).toContain("write-ahead log: 24 Executions");
  // Written to a pipe, it has no colours.
  expect(stdout).not.toContain("\u001b");
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

test("the audit names what is missing and what is doubled", async () => {
  const store = await SqliteStore.create();
  const order = newExecution({ id: "order", definition_id: "order", root_path: "Order" });
  const { exe } = begin(orderChart, order, 0);
  const step = { from: null, to: "Order.Cart", at: 0, emits: [], timers: [], spawns: [] };
  store.commit(exe, { trace: { ...step, event: { id: "twice", kind: "start" } }, processedEventId: "twice" });
  store.commit(exe, { trace: { ...step, event: { id: "twice", kind: "start" } } });
  const acknowledged = { life: 1, executionId: "order", version: 3, again: false };
  const steps = [{ ...acknowledged, eventId: "lost" }];
  const checks = audit(store, "order", { steps, kills: [], sent: new Map(), heard: new Set(), cameBack: ["outbox 1"] });
  const problems = checks.flatMap((check) => check.problems);
  expect(problems).toContain("lost: 0 instead of 1");
  expect(problems).toContain("twice: 2 instead of 1");
  expect(problems).toContain("outbox 1: there again after it was acknowledged");
  store.close();
});

test("an unpaid order is cancelled when its last timer fires", () => {
  const order = newExecution({ id: "order", definition_id: "order", root_path: "Order" });
  const event = (kind: string) => ({ id: kind, kind, created_time: null, received_time: null, data: {} });
  const cart = begin(orderChart, order, 0);
  const waiting = react(orderChart, cart.exe, event("checkout"), 10);
  expect(waiting.timers).toEqual([{ op: "schedule", path: "Order.Pay.Waiting", fire_at: 10.12 }]);
  const reminded = react(orderChart, waiting.exe, event("timeout"), 11);
  expect(reminded.timers.map(({ op, path }) => `${op} ${path}`)).toEqual([
    "cancel Order.Pay.Waiting",
    "schedule Order.Pay.Reminded",
  ]);
  const cancelled = react(orderChart, reminded.exe, event("timeout"), 4000);
  expect([cancelled.exe.status, cancelled.exe.outcome]).toEqual(["DONE", "cancelled"]);
  // What nobody waits for changes nothing.
  expect(react(orderChart, cancelled.exe, event("paid"), 4001).handled).toBe(false);
});
