// Writers in processes of their own, all on one Execution of one file.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startChild } from "./child.js";
import { auditContest } from "./contest.js";
import { checkIntegrity, stockSqlites } from "./stock.js";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perdure-concurrency-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const CONTENDERS = [
  { name: "a", kind: "sync" },
  { name: "b", kind: "async" },
  { name: "c", kind: "sync" },
  { name: "d", kind: "async" },
];
const NAMES = CONTENDERS.map(({ name }) => name);
const COMMITS = 250;

describe("4 processes × 250 commits on one Execution", () => {
  test("L4 conflicts lose nothing: version 1000, one row per commit", { timeout: 240_000 }, async () => {
    const file = join(folder, "shared.db");
    const children = CONTENDERS.map((one) => startChild("contender.js", { file, ...one, commits: COMMITS }));
    const ends = await Promise.all(children.map(({ ended }) => ended));
    expect(ends).toEqual(children.map(() => ({ code: 0, signal: null, errors: "" })));
    await expectAll(file);
  });

  test("L4 the same with one killed in the middle and started again", { timeout: 240_000 }, async () => {
    const file = join(folder, "shared.db");
    const [first, ...others] = CONTENDERS;
    let killedAt = 0;
    const killed = startChild(
      "contender.js",
      { file, ...first, commits: COMMITS },
      {
        onLine: () => {
          killedAt += 1;
          if (killedAt === 60) killed.kill();
        },
      },
    );
    const rest = others.map((one) => startChild("contender.js", { file, ...one, commits: COMMITS }));
    expect((await killed.ended).signal).toBe("SIGKILL");
    const again = startChild("contender.js", { file, ...first, commits: COMMITS });
    const ends = await Promise.all([...rest, again].map(({ ended }) => ended));
    expect(ends).toEqual([...rest, again].map(() => ({ code: 0, signal: null, errors: "" })));
    await expectAll(file);
  });

  test("L4 the same with one frozen again and again, whatever it holds", { timeout: 240_000 }, async () => {
    const file = join(folder, "shared.db");
    const [first, ...others] = CONTENDERS;
    let told = 0;
    const frozen = startChild("contender.js", { file, ...first, commits: COMMITS });
    const freeze = (): void => {
      told += 1;
      // The others go on, or wait for it: either way it wakes up in a world that may have changed.
      if (told % 50 !== 0 || !frozen.isAlive()) return;
      frozen.signal("SIGSTOP");
      setTimeout(() => frozen.signal("SIGCONT"), 100);
    };
    const rest = others.map((one) =>
      startChild("contender.js", { file, ...one, commits: COMMITS }, { onLine: freeze }),
    );
    const ends = await Promise.all([frozen, ...rest].map(({ ended }) => ended));
    expect(ends).toEqual(ends.map(() => ({ code: 0, signal: null, errors: "" })));
    await expectAll(file);
  });
});

async function expectAll(file: string): Promise<void> {
  const { found, expected } = await auditContest(file, NAMES, COMMITS);
  expect(found).toEqual(expected);
  for (const stock of stockSqlites) expect(checkIntegrity(stock, file)).toEqual([]);
  // Nothing is left of the locks.
  expect((await readdir(folder)).filter((name) => name.includes("-lock"))).toEqual([]);
}
