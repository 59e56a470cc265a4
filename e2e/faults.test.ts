// Faults of the system: a few of them; `npm run test:faults` goes through every call. And a disk that is really full.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startChild } from "./child.js";
import { countCalls, hasStrace, runFault, SCENARIOS } from "./faults.js";
import { auditFile } from "./inspect.js";
import { isInstalled } from "./stock.js";

const EIO = "error=EIO";
const ENOSPC = "error=ENOSPC";
const KILL = "signal=SIGKILL";

/**
 * One of each kind: when the file is made, in a commit, in a checkpoint, at the end; passing, lasting, for good. `at`:
 * where among all calls of that name, from the first one (0) to the last (1).
 */
const FAULTS = [
  { call: "fdatasync", at: 0, lasts: 1, does: EIO },
  { call: "fdatasync", at: 0.3, lasts: 3, does: EIO },
  { call: "fdatasync", at: 0.2, lasts: Infinity, does: EIO },
  { call: "fdatasync", at: 0.5, lasts: 1, does: KILL },
  { call: "fdatasync", at: 1, lasts: 1, does: EIO },
  { call: "fsync", at: 0, lasts: 1, does: EIO },
  { call: "fsync", at: 1, lasts: 1, does: EIO },
  { call: "pwrite64", at: 0.3, lasts: 1, does: ENOSPC },
  { call: "pwrite64", at: 0.7, lasts: 3, does: EIO },
  { call: "pwrite64", at: 0.8, lasts: 1, does: KILL },
  { call: "rename", at: 0, lasts: 1, does: EIO },
  { call: "rename", at: 0, lasts: 1, does: KILL },
  { call: "link", at: 0, lasts: 1, does: EIO },
  { call: "link", at: 1, lasts: 1, does: KILL },
  { call: "unlink", at: 1, lasts: 1, does: EIO },
];

describe.each(SCENARIOS)("faults of the system under a store ($kind)", (scenario) => {
  let counts: Map<string, number>;
  beforeAll(async () => {
    counts = hasStrace ? await countCalls(scenario) : new Map();
  });

  test.skipIf(!hasStrace).each(FAULTS)(
    "L1 L2 L7 $does, $call at $at, lasts $lasts",
    { timeout: 120_000 },
    async ({ call, at, lasts, does }) => {
      const count = counts.get(call) ?? 0;
      expect(count, `calls of ${call}`).toBeGreaterThan(0);
      const from = 1 + Math.round(at * (count - 1));
      const { problems, hits } = await runFault(scenario, { call, from, to: from + lasts - 1, does });
      expect(problems).toEqual([]);
      expect(hits).toBeGreaterThan(0);
    },
  );
});

describe.each(["sync", "async"])("a disk that is really full (%s)", (kind) => {
  // Writing behind the limit on a file's size is cut short, then refused: as on a full disk, but only for one process.
  test.skipIf(!isInstalled("prlimit", ["--version"]))(
    "L1 L7 a short write is undone, and the store goes on when there is room",
    { timeout: 120_000 },
    async ({ onTestFinished }) => {
      const folder = await mkdtemp(join(tmpdir(), "perdure-full-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      const file = join(folder, "store.db");
      const child = startChild("remote.js", { file, kind });
      await child.nextLine();
      const commit = async (bytes: number): Promise<unknown> => JSON.parse(await child.ask(`commit ${bytes}`));
      const limit = (bytes: string): Buffer =>
        execFileSync("prlimit", ["--pid", String(child.pid), `--fsize=${bytes}`]);

      expect(await commit(1000)).toEqual({ version: 1, stored: 1 });
      expect(await commit(1000)).toEqual({ version: 2, stored: 2 });
      const { size } = await stat(`${file}-wal`);
      limit(`${size + 200_000}:unlimited`);
      expect(await commit(2_000_000)).toEqual({ code: "no-space", version: 2, stored: 2 });
      expect(await commit(3_000_000)).toEqual({ code: "no-space", version: 2, stored: 2 });
      expect(await commit(100)).toEqual({ version: 3, stored: 3 });
      expect(await auditFile(file, join(folder, "copy.db"), new Map([["remote", 3]]), 0)).toEqual([]);
      limit("unlimited:unlimited");
      expect(await commit(2_000_000)).toEqual({ version: 4, stored: 4 });
      child.hangUp();
      expect(await child.ended).toEqual({ code: 0, signal: null, errors: "" });
      expect(await auditFile(file, join(folder, "copy.db"), new Map([["remote", 4]]), 0)).toEqual([]);
    },
  );
});
