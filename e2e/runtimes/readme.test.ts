// The README says what is so: its code runs as it stands, in its order, and its tables are complete.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let readme: string;
let folder: string;
beforeAll(async () => {
  readme = await readFile(join(ROOT, "README.md"), "utf8");
  folder = await mkdtemp(join(tmpdir(), "perdure-readme-"));
  await mkdir(join(folder, "node_modules"));
  await symlink(ROOT, join(folder, "node_modules/perdure"));
});
afterAll(() => rm(folder, { recursive: true }));

const section = (title: string): string => readme.split(/^## /m).find((one) => one.startsWith(`${title}\n`)) ?? "";
const code = (text: string): string => /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
const run = async (source: string): Promise<string> => {
  const args = ["--input-type=module", "--eval", source];
  return (await promisify(execFile)(process.execPath, args, { cwd: folder })).stdout;
};

test("the quick start is five lines, and they run", async () => {
  const source = code(section("Quick start"));
  expect(source.trim().split("\n").length).toBe(5);
  expect(await run(source)).toMatch(
    /^\{ item: 'tea' \} \[\s*\{\s*execution_id: '[0-9a-f]{32}',\s*path: 'Order.Unpaid'/,
  );
});

test("the event handler runs, and handles the event once", async () => {
  expect(await run(code(section("Handling an event")))).toBe("deliver Ship to shipping\n");
});

test("the table of errors has every code, with its class", async () => {
  const source = await readFile(join(ROOT, "src/errors.ts"), "utf8");
  const codes = /export type ErrorCode =([\s\S]*?);/.exec(source)![1]!.match(/[a-z]+(-[a-z]+)*(?=")/g)!;
  const rows = Array.from(section("Errors").matchAll(/^\| `([a-z-]+)` +\| `(\w+)`/gm), ([, name, by]) => ({
    name: name!,
    by: by!,
  }));
  expect(rows.map(({ name }) => name).sort()).toEqual([...codes].sort());
  const exported: object = await import("../../src/index.ts");
  expect(rows.filter(({ by }) => !Object.hasOwn(exported, by))).toEqual([]);
});

test("the table of operations has every method of both stores", async () => {
  const { SqliteStore, AsyncSqliteStore } = await import("../../src/index.ts");
  const table = section("Handling an event");
  for (const store of [SqliteStore, AsyncSqliteStore]) {
    const methods = Object.getOwnPropertyNames(store.prototype).filter((name) => name !== "constructor");
    expect(methods.filter((name) => !table.includes(`\`${name}(`))).toEqual([]);
  }
});
