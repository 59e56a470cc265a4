// The arrows between the folders, and what may lie at the top of the tree, checked by reading every import there is.
// A fixture of wrong arrows proves that a wrong one is found.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** A part of the tree, and all it may import: files by the path from the root, packages by name. */
interface Room {
  readonly name: string;
  readonly files: RegExp;
  readonly may: RegExp;
}

/** In this order: the first room that a file is in counts. */
const ROOMS: readonly Room[] = [
  { name: "architecture test", files: /^src\/architecture\.test\.ts$/, may: /^(node:|vite$|vitest$)/ },
  {
    name: "tests in src",
    files: /^src\/.*(\.test|\/testing)\.ts$/,
    may: /^(vitest|fast-check|node:.*|virtual:sql\.js\/.*|src\/.*|adapters\/memory\.ts)$/,
  },
  { name: "errors", files: /^src\/errors\.ts$/, may: /^$/ },
  { name: "options", files: /^src\/check\.ts$/, may: /^src\/errors\.ts$/ },
  { name: "port", files: /^src\/port\.ts$/, may: /^$/ },
  { name: "sql", files: /^src\/sql\.ts$/, may: /^$/ },
  { name: "records", files: /^src\/records\//, may: /^(superstruct|src\/(records\/.*|errors\.ts))$/ },
  {
    name: "engine",
    files: /^src\/engine\//,
    may: /^(virtual:sql\.js\/(glue|wasm)|src\/(engine\/.*|errors\.ts|port\.ts))$/,
  },
  {
    name: "store",
    files: /^src\/store\//,
    may: /^src\/((store|records|format)\/.*|engine\/(database|engine|row|statement)\.ts|(check|errors|port|sql)\.ts)$/,
  },
  { name: "file format, read by hand", files: /^src\/format\//, may: /^src\/format\/.*$/ },
  {
    name: "salvage",
    files: /^src\/salvage\//,
    may: /^src\/((salvage|format|records|store)\/.*|engine\/(database|engine|row|statement)\.ts|(check|errors|port|sql)\.ts)$/,
  },
  // No test runner, no Node: whoever runs the suite hands those in.
  {
    name: "contract suite",
    files: /^src\/contract\//,
    may: /^src\/((contract|records|store)\/.*|engine\/(database|engine|row|statement)\.ts|errors\.ts|port\.ts|sql\.ts|index\.ts)$/,
  },
  {
    name: "public names",
    files: /^src\/index\.ts$/,
    may: /^src\/((store|records|salvage)\/.*|(check|errors|port)\.ts)$/,
  },
  {
    name: "tests of adapters",
    files: /^adapters\/(.*\.test|(.*\/)?testing(\/.*)?)\.ts$/,
    may: /^(vitest|fast-check|fake-indexeddb|node:.*|src\/.*|adapters\/.*|e2e\/(promised|targets)\.ts)$/,
  },
  { name: "memory adapter", files: /^adapters\/memory\.ts$/, may: /^src\/(errors|port)\.ts$/ },
  // No Node, no browser: files come from whoever uses it.
  {
    name: "log and base",
    files: /^adapters\/wal\//,
    may: /^(src\/(check|errors|port|format\/pages)\.ts|adapters\/wal\/.*)$/,
  },
  {
    name: "file adapter",
    files: /^adapters\/file\//,
    may: /^(node:.*|src\/(check|errors|port)\.ts|adapters\/(wal|file)\/.*)$/,
  },
  {
    name: "opfs adapter",
    files: /^adapters\/opfs\//,
    may: /^(src\/(check|errors|port)\.ts|adapters\/(wal|opfs)\/.*)$/,
  },
  {
    name: "IndexedDB adapter",
    files: /^adapters\/indexeddb\//,
    may: /^(idb-keyval|src\/(check|errors|port|format\/pages)\.ts|adapters\/(indexeddb\/.*|wal\/(database-file|gaps|remains)\.ts))$/,
  },
  // For tests of apps, in browsers too.
  {
    name: "simulation",
    files: /^adapters\/simulation\//,
    may: /^(src\/(check|errors|port|contract\/faults)\.ts|src\/store\/(async-sqlite-store|sqlite-store|options)\.ts|adapters\/(simulation\/.*|wal\/(program|random-access-file|wal)\.ts|opfs\/(failures|index|opening|options|platform|storage)\.ts))$/,
  },
  {
    name: "entry for Node, Deno and Bun",
    files: /^adapters\/node\.ts$/,
    may: /^(src\/index\.ts|src\/store\/locations\.ts|adapters\/(memory|file\/index|file\/remains)\.ts)$/,
  },
  {
    name: "entry for everywhere else",
    files: /^adapters\/browser\.ts$/,
    may: /^(src\/(errors|index|port|store\/locations)\.ts|adapters\/(memory|indexeddb\/(index|remains)|wal\/remains)\.ts)$/,
  },
  { name: "build of the demo's page", files: /^demo\/page\/(vite\.config\.ts|serve\.js)$/, may: /^(vite|node:.*)$/ },
  { name: "demo's page", files: /^demo\/page\//, may: /^(perdure(\/.*)?|demo\/(page\/.*|chart\.js|order-chart\.js))$/ },
  // Users of the package, so only by its name.
  { name: "demo", files: /^demo\//, may: /^(perdure(\/.*)?|node:.*|demo\/.*)$/ },
];

/** The specifiers a file imports, types included; relative ones as paths from the root. */
function importsOf(path: string, source: string): string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, source).module;
  const found = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) =>
      source.slice(start, end).replaceAll(/^["'`]|["'`]$/g, ""),
    ),
    ...Array.from(source.matchAll(/\bimport\(["'](.+?)["']\)\./g), ([, specifier]) => specifier!),
  ];
  return [...new Set(found.map((one) => (one.startsWith(".") ? normalize(join(dirname(path), one)) : one)))];
}

/** Every arrow that goes the wrong way, as "from → to", and every file that is in no room. */
function wrongArrows(files: ReadonlyMap<string, string>): string[] {
  const wrong: string[] = [];
  for (const [path, source] of files) {
    const room = ROOMS.find(({ files: inRoom }) => inRoom.test(path));
    if (room === undefined) wrong.push(`${path} is in no room`);
    else for (const to of importsOf(path, source)) if (!room.may.test(to)) wrong.push(`${path} → ${to}`);
  }
  return wrong;
}

function readTree(...folders: string[]): Map<string, string> {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
}

test("every import goes the way the architecture allows", () => {
  const files = readTree("src", "adapters", "demo");
  expect(files.size).toBeGreaterThan(30);
  expect(wrongArrows(files)).toEqual([]);
});

test("src and what browsers use need nothing that only Node has", () => {
  const found = [
    ...readTree("src"),
    ...readTree("adapters/wal", "adapters/opfs", "adapters/indexeddb", "adapters/simulation"),
  ]
    .filter(([path]) => !/\.test\.ts$|\/testing(\.ts$|\/)/.test(path))
    .filter(([, source]) => /^[^/*]*(\bprocess\.|\bBuffer\b|\brequire\(|\b__dirname\b|\bsetImmediate\b)/m.test(source));
  expect(found.map(([path]) => path)).toEqual([]);
});

test("a wrong arrow is found, however it is written", () => {
  // Put together, or this file itself would be found.
  const typeImport = (name: string): string => `import("${name}")`;
  const wrong = wrongArrows(
    new Map([
      ["src/errors.ts", `import type { Json } from "./records/json.ts";`],
      [
        "src/check.ts",
        `import { isPlainObject } from "./records/json.ts"; import { RecordInvalid } from "./errors.ts";`,
      ],
      ["src/records/a.ts", `import "../store/core.ts"; import { type Database } from "../engine/database.ts";`],
      ["src/engine/a.ts", `export * from "sql.js"; const core = await import("../store/core.ts");`],
      ["src/store/a.ts", `import { readFileSync } from "node:fs"; export type { A } from "../../adapters/memory.ts";`],
      ["src/store/b.ts", `type Store = ${typeImport("idb-keyval")}.UseStore; import glue from "virtual:sql.js/glue";`],
      ["src/contract/a.ts", `import { test } from "vitest"; import { run } from "node:test";`],
      ["adapters/memory.ts", `import { Session } from "../src/store/session.ts"; import "./file/index.ts";`],
      ["adapters/file/a.ts", `import { Database } from "../../src/engine/database.ts";`],
      ["adapters/wal/a.ts", `import * as fs from "node:fs"; import { openFile } from "../file/disk.ts";`],
      ["adapters/browser.ts", `import { fileAdapter } from "./file/index.ts";`],
      ["adapters/opfs.ts", ""],
      ["demo/a.js", `import { SqliteStore } from "../src/index.ts";`],
      ["src/store/fine.ts", `// import "node:fs"\nconst text = 'import "node:fs"';\nimport { Core } from "./core.ts";`],
    ]),
  );
  expect(wrong).toEqual([
    "src/errors.ts → src/records/json.ts",
    "src/check.ts → src/records/json.ts",
    "src/records/a.ts → src/store/core.ts",
    "src/records/a.ts → src/engine/database.ts",
    "src/engine/a.ts → sql.js",
    "src/engine/a.ts → src/store/core.ts",
    "src/store/a.ts → node:fs",
    "src/store/a.ts → adapters/memory.ts",
    "src/store/b.ts → virtual:sql.js/glue",
    "src/store/b.ts → idb-keyval",
    "src/contract/a.ts → vitest",
    "src/contract/a.ts → node:test",
    "adapters/memory.ts → src/store/session.ts",
    "adapters/memory.ts → adapters/file/index.ts",
    "adapters/file/a.ts → src/engine/database.ts",
    "adapters/wal/a.ts → node:fs",
    "adapters/wal/a.ts → adapters/file/disk.ts",
    "adapters/browser.ts → adapters/file/index.ts",
    "adapters/opfs.ts is in no room",
    "demo/a.js → src/index.ts",
  ]);
});

test("the top of the tree holds what it should and nothing else", () => {
  const settings = "package.json package-lock.json tsconfig.json vite.config.ts";
  const texts = "README.md CONTRIBUTING.md SECURITY.md LICENSE THIRD-PARTY-LICENSES.md";
  const folders = "src adapters demo e2e bench";
  // What commands make, and git ignores; `npm pack` leaves its archive here.
  const made = /^(node_modules|dist|coverage|.*\.tgz)$/;
  const found = readdirSync(ROOT).filter((name) => !name.startsWith(".") && !made.test(name));
  expect(found.sort()).toEqual(`${settings} ${texts} ${folders}`.split(" ").sort());
});
