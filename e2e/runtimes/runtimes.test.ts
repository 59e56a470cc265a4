// The built package in Node, Deno and Bun, each a process of its own; Deno with as few permissions as it needs.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const USE = "e2e/runtimes/use.js";
const bin = (name: string): string => join(ROOT, "node_modules/.bin", name);

/** What a program printed. Rejects, with what it printed, when it fails. */
async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: ROOT, env: { ...process.env, NO_COLOR: "1" } });
  return stdout;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perdure-runtimes-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("L8: the built package", () => {
  test.each(["memory", "file"])("Node, %s", async (kind) => {
    expect(await run(process.execPath, USE, kind === "file" ? join(folder, "node.db") : ":memory:")).toBe("ok\n");
  });

  test.each(["memory", "file"])("Bun, %s", async (kind) => {
    expect(await run(bin("bun"), USE, kind === "file" ? join(folder, "bun.db") : ":memory:")).toBe("ok\n");
  });

  test("Deno, memory, without any permission", async () => {
    expect(await run(bin("deno"), "run", "--no-prompt", USE, ":memory:")).toBe("ok\n");
  });

  test("Deno, file, with the permission for its folder alone", async () => {
    const own = join(folder, "deno");
    const allowed = [`--allow-read=${own}`, `--allow-write=${own}`];
    await mkdir(own);
    expect(await run(bin("deno"), "run", "--no-prompt", ...allowed, USE, join(own, "deno.db"))).toBe("ok\n");
  });

  test("Deno, file, without permission: a typed error, and nothing is made", async () => {
    const denied = run(bin("deno"), "run", "--no-prompt", USE, join(folder, "denied.db"));
    await expect(denied).rejects.toThrow(/StorageRefused: .*denied\.db: no permission/);
    expect((await readdir(folder)).filter((name) => name.includes("denied"))).toEqual([]);
  });

  test("one file, written in turn by all three", async () => {
    const place = join(folder, "all.db");
    const open = `const { SqliteStore, newExecution } = await import("perdure");
      const store = await SqliteStore.create(${JSON.stringify(place)});
      store.save(newExecution({ definition_id: "turn" }));
      console.log(store.listExecutions().items.length);
      store.close();`;
    expect(await run(process.execPath, "--input-type=module", "-e", open)).toBe("1\n");
    expect(await run(bin("deno"), "eval", "--ext=js", open)).toBe("2\n");
    expect(await run(bin("bun"), "-e", open)).toBe("3\n");
    expect(await run(process.execPath, "--input-type=module", "-e", open)).toBe("4\n");
  });

  test("bundled for a page and minified: memory works, and a name opens nothing yet", async () => {
    const app = join(folder, "app");
    await mkdir(join(app, "node_modules"), { recursive: true });
    await symlink(ROOT, join(app, "node_modules/perdure"));
    const source = `import { newExecution, SqliteStore } from "perdure";
      const store = await SqliteStore.create();
      const exe = newExecution({ definition_id: "page" });
      store.commit(exe, { trace: { step: 1 } });
      console.log(store.load(exe.id).version, store.readTrace(exe.id).length);
      store.close();
      await SqliteStore.create("page.db").catch((error) => console.log(error.code));`;
    await writeFile(join(app, "app.js"), source);
    const rolldownOptions = { input: join(app, "app.js"), output: { entryFileNames: "[name].js" } };
    await build({
      configFile: false,
      logLevel: "error",
      root: app,
      build: { rolldownOptions, minify: true, target: "es2022", modulePreload: false },
    });
    // The WebAssembly is loaded lazily, and what salvages.
    const later = (await readdir(join(app, "dist/assets"))).map((name) => name.split("-")[0]);
    expect(new Set(later)).toEqual(new Set(["remains", "salvage", "wasm"]));
    await writeFile(join(app, "dist/package.json"), `{ "type": "module" }`);
    expect(await run(process.execPath, join(app, "dist/app.js"))).toBe("1 1\nunsupported\n");
  });
});
