// What is published: the exports match the files built, nothing else is packed, each entry reaches only what its platforms
// have, the types need no more than they say, and the licences are those of the versions inside.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { parseSync } from "vite";
import { beforeAll, describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const text = (path: string): Promise<string> => readFile(join(ROOT, path), "utf8");

interface Manifest {
  readonly exports: Record<string, unknown>;
  readonly dependencies: Record<string, string>;
  readonly sideEffects: string[];
  readonly allowScripts: Record<string, boolean>;
}

let manifest: Manifest;
/** Every file under dist, from the root. */
let built: string[];
beforeAll(async () => {
  manifest = JSON.parse(await text("package.json")) as Manifest;
  const entries = await readdir(join(ROOT, "dist"), { recursive: true, withFileTypes: true });
  built = entries.filter((one) => one.isFile()).map((one) => relative(ROOT, join(one.parentPath, one.name)));
});

/** The leaves of a tree of conditions, as paths from the root. */
function leaves(conditions: unknown): string[] {
  if (typeof conditions === "string") return [normalize(conditions)];
  return Object.values(conditions as object).flatMap(leaves);
}

/** What a built file imports, statically or not. */
async function importsOf(file: string): Promise<{ statics: string[]; dynamics: string[] }> {
  const source = await text(file);
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  const resolve = (one: string): string => (one.startsWith(".") ? normalize(join(dirname(file), one)) : one);
  return {
    statics: [
      ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
    ].map(resolve),
    dynamics: dynamicImports.map(({ moduleRequest: { start, end } }) => resolve(source.slice(start + 1, end - 1))),
  };
}

/** Everything an entry reaches: our files and packages. */
async function reach(entry: string, { dynamic }: { dynamic: boolean }): Promise<Set<string>> {
  const found = new Set([entry]);
  for (const file of found) {
    if (!file.startsWith("dist/")) continue;
    const { statics, dynamics } = await importsOf(file);
    for (const one of dynamic ? [...statics, ...dynamics] : statics) found.add(one);
  }
  return found;
}

describe("exports", () => {
  test("name files that are built, and every built entry is named", () => {
    const named = Object.values(manifest.exports).flatMap(leaves);
    expect(named.filter((path) => path !== "package.json" && !built.includes(path))).toEqual([]);
    const entries = built.filter((path) => /^dist\/[^/]+\.js$/.test(path));
    expect(entries.filter((path) => !named.includes(path))).toEqual([]);
    expect(manifest.sideEffects.map(normalize).filter((path) => !entries.includes(path))).toEqual([]);
  });

  test("are reached with the dependencies, and Node's modules where files are", async () => {
    const packages = async (entry: string): Promise<string[]> =>
      [...(await reach(entry, { dynamic: true }))].filter((one) => !one.startsWith("dist/"));
    for (const entry of ["memory", "opfs", "contract", "testing"]) {
      expect((await packages(`dist/${entry}.js`)).filter((one) => one !== "superstruct")).toEqual([]);
    }
    expect((await packages("dist/node.js")).filter((one) => !one.startsWith("node:"))).toEqual(["superstruct"]);
    const ours = Object.keys(manifest.dependencies);
    expect((await packages("dist/browser.js")).filter((one) => !ours.includes(one))).toEqual([]);
  });

  /** The chunks of their own that only import() loads. */
  const laterOf = async (entry: string): Promise<string[]> => {
    const now = await reach(`dist/${entry}.js`, { dynamic: false });
    const later = await reach(`dist/${entry}.js`, { dynamic: true });
    return [...later].filter((file) => !now.has(file));
  };
  const named = (name: string): string[] =>
    built.filter((path) => new RegExp(`^dist/chunks/${name}-[^/]+\\.js$`).test(path));

  test("bring the WebAssembly in a chunk that only import() loads, a page what salvages as well, and nothing else so", async () => {
    const [wasm, remains] = [named("wasm"), named("remains")];
    expect([wasm.length, remains.length]).toEqual([1, 1]);
    expect(await laterOf("node")).toEqual(wasm);
    expect((await laterOf("browser")).sort()).toEqual([...remains, ...wasm]);
  });

  test("cost a page 400 KB at most, gzipped, WebAssembly included", async () => {
    const first = await reach("dist/browser.js", { dynamic: false });
    const modules = [...first, ...named("wasm")].map((one) =>
      one.startsWith("dist/") ? join(ROOT, one) : fileURLToPath(import.meta.resolve(one)),
    );
    const sizes = await Promise.all(modules.map(async (file) => gzipSync(await readFile(file)).length));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    // The WebAssembly alone is more than this: were it missing, this would measure nothing.
    expect(bytes).toBeGreaterThan(300_000);
    expect(bytes).toBeLessThanOrEqual(400 * 1024);
  });
});

describe("what is packed", () => {
  test("dist, the licences, the README and what it leads to, and no source", async () => {
    const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const packed = files.map(({ path }) => path);
    const texts = ["CONTRIBUTING.md", "LICENSE", "README.md", "THIRD-PARTY-LICENSES.md", "package.json"];
    // npm packs the README of every folder that it packs from.
    const further = ["bench/README.md", "bench/page/results/chromium.svg", "e2e/TRUST.md"];
    expect(packed.sort()).toEqual([...built, ...texts, ...further].sort());
    expect(packed.filter((path) => !/\.js(\.map)?$|\.d\.ts$/.test(path)).sort()).toEqual([...texts, ...further].sort());
    expect(packed.filter((path) => /\.test\.|\/testing\//.test(path))).toEqual([]);
  });

  test("the licences are those of what is inside", async () => {
    const [ours, licence, authors] = await Promise.all([
      text("THIRD-PARTY-LICENSES.md"),
      text("node_modules/sql.js/LICENSE"),
      text("node_modules/sql.js/AUTHORS"),
    ]);
    for (const name of ["sql.js", "superstruct"]) {
      const { version } = JSON.parse(await text(`node_modules/${name}/package.json`)) as { version: string };
      expect(ours).toContain(`## ${name} ${version}`);
    }
    expect(ours).toContain(licence.slice(0, licence.indexOf("# Some portions of the Makefile")).trim());
    expect(ours).toContain(authors.trim());
  });

  test("the lock file names no host, and install scripts are allowed by name", async () => {
    const { packages } = JSON.parse(await text("package-lock.json")) as {
      packages: Record<string, { resolved?: string; hasInstallScript?: boolean; optional?: boolean }>;
    };
    const of = (has: (one: (typeof packages)[string]) => unknown): string[] =>
      Object.entries(packages).flatMap(([path, one]) => (has(one) ? [path.replace(/^.*node_modules\//, "")] : []));
    expect(of(({ resolved }) => resolved?.includes("//"))).toEqual([]);
    const scripts = of(({ hasInstallScript, optional }) => hasInstallScript && !optional);
    expect(scripts.filter((name) => manifest.allowScripts[name] !== true)).toEqual([]);
  });
});

describe("types", () => {
  test("need neither the DOM library nor Node's, and hide what a newer TypeScript would show", async () => {
    const folder = await mkdtemp(join(tmpdir(), "perdure-types-"));
    await mkdir(join(folder, "node_modules"));
    await symlink(ROOT, join(folder, "node_modules/perdure"));
    await writeFile(
      join(folder, "app.ts"),
      `import { AsyncSqliteStore, type Execution, newExecution, SqliteStore, type SyncAdapter } from "perdure";
      import { asyncFileAdapter, fileAdapter } from "perdure/file";
      import { memoryAdapter } from "perdure/memory";
      export * as contract from "perdure/contract";
      const adapter: SyncAdapter = fileAdapter("x.db", { durability: "relaxed", busyTimeoutMs: 10 });
      const store: SqliteStore = await SqliteStore.create(adapter, { wasm: new Uint8Array(8) });
      const exe: Execution = newExecution({ definition_id: "order" });
      store.commit(exe, { timers: [{ op: "schedule", path: "a", fire_at: 1 }], trace: {} });
      await (await AsyncSqliteStore.create(asyncFileAdapter("y.db"))).save(exe);
      await (await AsyncSqliteStore.create(memoryAdapter())).save(exe);
      // That this does not compile is what is tested (in the text of a user's program): did it, the unused directive would be an error.
      // @ts-expect-error a synchronous store takes no adapter that waits
      await SqliteStore.create(asyncFileAdapter("y.db"));`,
    );
    await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
    for (const [module, moduleResolution] of [
      ["NodeNext", "NodeNext"],
      ["ESNext", "Bundler"],
    ]) {
      const compilerOptions = {
        ...{ module, moduleResolution, target: "ES2022", lib: ["ES2022"], types: [] },
        ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
      };
      await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["app.ts"] }));
      const tsc = run(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: unknown) => error);
      expect(await tsc).toMatchObject({ stdout: "" });
    }
    await rm(folder, { recursive: true });
    const declared = await Promise.all(built.filter((path) => path.endsWith(".d.ts")).map(text));
    expect(declared.filter((one) => one.includes("Uint8Array<"))).toEqual([]);
  });
});
