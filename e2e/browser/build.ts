// Before all tests: bundles the test pages over the built package, as an app's own build would, into a folder of its own.
// Knows no browser.
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Where the built pages are, for the test workers. */
export const PAGES = "PERDURE_TEST_PAGES";

/** The README's example for the browser, as it stands there: a script beside the pages. */
async function readmeExample(): Promise<string> {
  const readme = await readFile(at("../../README.md"), "utf8");
  const found = /^## In the browser\n[^]*?^```js\n([^]*?)^```$/m.exec(readme);
  if (found === null) throw new Error("the README has no example for the browser");
  return found[1]!;
}

/** Builds. The function returned takes the folder away again. */
export async function buildPages(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "perdure-pages-"));
  const readme = at("pages/readme.js");
  const input = ["page", "worker", "shared-worker", "service-worker"].map((name) => at(`pages/${name}.ts`));
  const example = await readmeExample();
  await build({
    configFile: false,
    logLevel: "error",
    root: at("pages"),
    plugins: [
      {
        name: "readme",
        resolveId: (id) => (id === readme ? id : null),
        load: (id) => (id === readme ? example : null),
      },
    ],
    build: {
      outDir: folder,
      target: "es2022",
      minify: false,
      modulePreload: false,
      rolldownOptions: {
        input: [...input, readme],
        output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" },
      },
    },
  });
  await cp(at("pages/index.html"), join(folder, "index.html"));
  await cp(at("../../src/contract/golden"), join(folder, "golden"), { recursive: true });
  await cp(at("../../node_modules/sql.js/dist/sql-wasm-browser.wasm"), join(folder, "sql-wasm-browser.wasm"));
  process.env[PAGES] = folder;
  return () => rm(folder, { recursive: true });
}
