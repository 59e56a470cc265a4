// The README says what is so: its code runs as it stands, in its order, and its tables are complete.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
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
/** The examples of a section; each goes on where the one before it ended. */
const code = (text: string): string =>
  Array.from(text.matchAll(/```js\n([\s\S]*?)```/g), ([, source]) => source).join("");
const run = async (source: string): Promise<string> => {
  const args = ["--input-type=module", "--eval", source];
  return (await promisify(execFile)(process.execPath, args, { cwd: folder })).stdout;
};

test("every example type-checks under strict, against the types as built", async () => {
  const examples = readme
    .split(/^## /m)
    .map(code)
    .filter((source) => source !== "");
  expect(examples.length).toBeGreaterThan(6);
  await symlink(join(ROOT, "node_modules/@types"), join(folder, "node_modules/@types"));
  // Sections are modules of their own.
  for (const [i, source] of examples.entries()) await writeFile(join(folder, `${i}.js`), `${source}\nexport {};\n`);
  const options = "--noEmit --strict --allowJs --checkJs --target es2023 --module esnext --moduleResolution bundler";
  const files = examples.map((_, i) => `${i}.js`);
  const args = [join(ROOT, "node_modules/typescript/bin/tsc"), ...options.split(" "), "--types", "node", ...files];
  const failed: unknown = await promisify(execFile)(process.execPath, args, { cwd: folder }).then(
    () => null,
    (error: { stdout: string }) => error.stdout,
  );
  expect(failed).toBeNull();
});

test("links lead to what is in the package, or to the web", async () => {
  const { files } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { files: string[] };
  const links = Array.from(readme.matchAll(/\]\(([^)]+)\)/g), ([, link]) => link!);
  const titles = Array.from(
    readme.matchAll(/^## (.*)$/gm),
    ([, title]) => `#${title!.toLowerCase().replaceAll(" ", "-")}`,
  );
  expect(links.filter((link) => !link.startsWith("https:") && ![...titles, ...files].includes(link))).toEqual([]);
});

test("the quick start is five lines behind its import, and they run", async () => {
  const source = code(section("Quick start"));
  expect(source.trim().split("\n").length).toBe(6);
  expect(await run(source)).toMatch(
    /^\{ item: 'tea' \} \[\s*\{\s*execution_id: '[0-9a-f]{32}',\s*path: 'Order.Unpaid'/,
  );
});

test("the event handler and the relay run, and handle every event once", async () => {
  const look = `
    const again = await AsyncSqliteStore.create("orders.db");
    const parcel = await again.load("parcel of " + order.id);
    const traces = [...(await again.readTrace(order.id)), ...(await again.readTrace(parcel.id))];
    const left = [await again.pendingOutbox(), await again.pendingSpawns(), await again.dueTimers(1e12)];
    console.log(JSON.stringify({
      handled: traces.map(({ event }) => event), left: left.flat(), status: parcel.status, version: parcel.version,
    }));`;
  const out = await run(code(section("Handling an event")) + look);
  // Nothing is left, not even the quick start's timer, should that have run in the same folder.
  expect(JSON.parse(out.trim().split("\n").at(-1)!)).toEqual({
    ...{ handled: ["Paid", "Ship", "Timeout"], left: [], status: "DONE", version: 3 },
  });
  // As a newcomer may do.
  await run(code(section("Handling an event")));
});

test("the example of adapters runs", async () => {
  const look = 'console.log(fast.load("a"), await gone.load("a"));\nfast.close();';
  expect(await run(code(section("Adapters")).replace("fast.close();", look))).toBe("null null\n");
});

test("the example of watching prints what it says", async () => {
  expect(await run(code(section("Watching")))).toBe("local [ 'executions' ] [ 'tea' ]\n");
});

test("the example of verifying and salvage prints what it says", async () => {
  expect(await run(code(section("When storage is damaged")))).toBe("[]\n0 []\n");
});

test("the app that is crashed everywhere survives", async () => {
  expect(await run(code(section("Crash my app")))).toBe("true []\n");
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

test("the table of fields has every field of an Execution, with its default, and every status", async () => {
  const { ExecutionStruct, STATUSES } = await import("../../src/records/structs.ts");
  const table = section("Handling an event");
  const row = (name: string): boolean => new RegExp(`^\\|[^|]*\`${name}\``, "m").test(table);
  expect(Object.keys(ExecutionStruct.schema).filter((name) => !row(name))).toEqual([]);
  expect(STATUSES.filter((status) => !table.includes(`\`"${status}"\``))).toEqual([]);
});
