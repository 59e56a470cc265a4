// Parts of the demo's page that need no page. The whole of it is driven in a browser: browser/demo.chromium.spec.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { coalesced } from "../demo/page/coalesced.ts";
import { relayOf } from "../demo/page/relay.ts";
import type { Runtime } from "../demo/page/runtime.ts";

test.each(["succeeds", "fails"])("what is asked for while work goes on is done once more, if that %s", async (how) => {
  const problem = new Error("theirs");
  const errors: unknown[] = [];
  let runs = 0;
  const ask = coalesced(
    async () => {
      runs++;
      await Promise.resolve();
      if (runs > 1) return;
      for (let times = 0; times < 3; times++) void ask();
      if (how === "fails") throw problem;
    },
    (error) => errors.push(error),
  );
  await ask();
  expect([runs, errors]).toEqual([2, how === "fails" ? [problem] : []]);
  await ask();
  expect(runs).toBe(3);
});

test("the relay works off a kick that comes while its round fails", async () => {
  const problem = new Error("storage is gone for a moment");
  const errors: unknown[] = [];
  let rounds = 0;
  const runtime: Pick<Runtime, "round"> = {
    async round() {
      rounds++;
      await Promise.resolve();
      if (rounds > 1) return rounds < 4;
      relay.kick("local");
      throw problem;
    },
  };
  const relay = relayOf(
    runtime,
    () => true,
    (error) => errors.push(error),
  );
  await relay.settle();
  expect([rounds, errors]).toEqual([4, [problem]]);
});

test("npm run demo that is ended leaves no server behind", { timeout: 120_000 }, async () => {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  // The package is built; any port that is free.
  const npm = spawn("npm", ["run", "demo", "--ignore-scripts", "--", "0"], {
    ...{ cwd, env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined }, stdio: ["pipe", "pipe", "inherit"] },
  });
  const ended = once(npm, "exit");
  let url = "";
  for await (const line of createInterface({ input: npm.stdout })) {
    url = /http:\/\/localhost:\d+/.exec(line)?.[0] ?? "";
    if (url !== "") break;
  }
  expect((await fetch(url)).status).toBe(200);
  const closed = once(npm.stdout.resume(), "close");
  npm.kill("SIGTERM");
  await ended;
  // Whoever it started has its output, and holds it open while he lives.
  await closed;
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});
