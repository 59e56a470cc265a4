// Ending a group of processes: it ends, or the test that asked hears why not.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endGroup } from "./group.ts";

/** Starts a group of its own, tells the number of its leader, and never looks after it again. */
const NEGLECTFUL = `
  const { pid } = require("node:child_process").spawn(process.execPath, ["-e", ""], { detached: true, stdio: "ignore" });
  require("node:fs").writeSync(1, String(pid));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
`;

test("a group that runs is ended", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
  const ended = once(child, "exit");
  await endGroup(child.pid!, "SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
});

test("a group that nobody reaps is told, and not waited for without end", async () => {
  const parent = spawn(process.execPath, ["-e", NEGLECTFUL], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [leader] = await once(parent.stdout, "data");
  await expect(endGroup(Number(leader), "SIGKILL", 50)).rejects.toThrow(
    `process group ${leader} is there 50 ms after SIGKILL`,
  );
});
