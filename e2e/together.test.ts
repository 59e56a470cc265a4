// Node, Deno and Bun, each in a process of its own, on one file: at the same time, and after each other's death.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startChild } from "./child.js";
import { auditContest } from "./contest.js";
import { auditFile } from "./inspect.js";

const bin = (name: string): string => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url));
const config = fileURLToPath(new URL("children/bun.tsconfig.json", import.meta.url));

const RUNTIMES = {
  node: [process.execPath],
  deno: [bin("deno"), "run", "-A"],
  // Bun would follow tsconfig.json's paths to the sources; what is tested is the package.
  bun: [bin("bun"), `--tsconfig-override=${config}`],
};
const NAMES = Object.keys(RUNTIMES);
const COMMITS = 100;

async function newFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perdure-together-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "shared.db");
}

test.each(["sync", "async"])(
  "L4 L8 Node, Deno and Bun commit to one Execution (%s)",
  { timeout: 240_000 },
  async (kind) => {
    const file = await newFile();
    const children = Object.entries(RUNTIMES).map(([name, command]) =>
      startChild("contender.js", { file, kind, name, commits: COMMITS }, { command }),
    );
    const ends = await Promise.all(children.map(({ ended }) => ended));
    expect(ends).toEqual(NAMES.map(() => ({ code: 0, signal: null, errors: "" })));
    const { found, expected } = await auditContest(file, NAMES, COMMITS);
    expect(found).toEqual(expected);
  },
);

test("L2 L4 L8 each goes on where another one was killed", { timeout: 240_000 }, async () => {
  const file = await newFile();
  const acknowledged = new Map<string, number>();
  const options = { file, durability: "strict", inFlight: 1, payloadBytes: 1000 };
  const { node, deno, bun } = RUNTIMES;
  for (const [i, command] of [node, deno, bun, node, bun, deno, node].entries()) {
    let lines = 0;
    const child = startChild(
      "committer.js",
      { ...options, kind: i % 2 === 0 ? "sync" : "async" },
      {
        command,
        onLine(line) {
          const [id = "", version] = line.split(" ");
          acknowledged.set(id, Number(version));
          lines += 1;
          if (lines === 20) child.kill();
        },
      },
    );
    const { signal, errors } = await child.ended;
    expect({ signal, errors }).toEqual({ signal: "SIGKILL", errors: "" });
    expect(await auditFile(file, `${file}.copy`, acknowledged, 1)).toEqual([]);
  }
});
