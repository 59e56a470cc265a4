// Node, Deno and Bun, each in a process of its own, on one file at the same time.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startChild } from "./child.js";
import { auditContest } from "./contest.js";

const bin = (name: string): string => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url));
const config = fileURLToPath(new URL("children/bun.tsconfig.json", import.meta.url));

/** Bun would follow tsconfig.json's paths to the sources; what is tested is the package. */
const RUNTIMES = {
  node: [process.execPath],
  deno: [bin("deno"), "run", "-A"],
  bun: [bin("bun"), `--tsconfig-override=${config}`],
};
const NAMES = Object.keys(RUNTIMES);
const COMMITS = 100;

test.each(["sync", "async"])(
  "L4 L8 Node, Deno and Bun commit to one Execution (%s)",
  { timeout: 240_000 },
  async (kind) => {
    const folder = await mkdtemp(join(tmpdir(), "perdure-together-"));
    const file = join(folder, "shared.db");
    const children = Object.entries(RUNTIMES).map(([name, command]) =>
      startChild("contender.js", { file, kind, name, commits: COMMITS }, { command }),
    );
    const ends = await Promise.all(children.map(({ ended }) => ended));
    expect(ends).toEqual(NAMES.map(() => ({ code: 0, signal: null, errors: "" })));
    const { found, expected } = await auditContest(file, NAMES, COMMITS);
    expect(found).toEqual(expected);
    await rm(folder, { recursive: true });
  },
);
