// Writers in processes of their own, all on one Execution of one file.
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { randomFrom } from "../demo/random.js";
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
const MAX_KILLS = 20;

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

  test("L2 L4 the same with all of them frozen and killed at random", { timeout: 240_000 }, async () => {
    const file = join(folder, "shared.db");
    const seed = Math.floor(Math.random() * 1e6);
    const random = randomFrom(seed);
    const alive = new Map<string, ReturnType<typeof startChild>>();
    let kills = 0;

    /** Starts a contender again until it gets to its end. */
    const run = async ({ name, kind }: (typeof CONTENDERS)[number]): Promise<void> => {
      for (let ended = false; !ended;) {
        const child = startChild("contender.js", { file, kind, name, commits: COMMITS, checkpointFrames: 60 });
        alive.set(name, child);
        const { code, signal, errors } = await child.ended;
        expect({ signal: signal ?? "none", errors }).toEqual({ signal: code === 0 ? "none" : "SIGKILL", errors: "" });
        alive.delete(name);
        ended = code === 0;
      }
    };
    const disturb = (): void => {
      const child = [...alive.values()][Math.floor(random() * alive.size)];
      const what = random();
      if (what < 0.25 && kills < MAX_KILLS) {
        child?.kill();
        kills += 1;
      } else if (what < 0.6) {
        child?.signal("SIGSTOP");
        setTimeout(() => child?.signal("SIGCONT"), 20 + random() * 200);
      }
    };
    const timer = setInterval(disturb, 60);
    await Promise.all(CONTENDERS.map(run)).finally(() => clearInterval(timer));
    expect(kills, `seed ${seed}`).toBeGreaterThan(0);
    await expectAll(file);
  });
});

async function expectAll(file: string): Promise<void> {
  const { found, expected } = await auditContest(file, NAMES, COMMITS);
  expect(found).toEqual(expected);
  for (const stock of stockSqlites) expect(checkIntegrity(stock, file)).toEqual([]);
  // Nothing is left of the locks, but for the empty file of one killed before it could write its name.
  const locks = (await readdir(folder)).filter((name) => name.includes("-lock"));
  for (const name of locks) expect((await stat(join(folder, name))).size, name).toBe(0);
}
