import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { closingLine } from "./e2e/reporter.ts";

/**
 * Carries a private copy of stock sql.js: its browser glue as an ES module, and its wasm gzipped as base64 in a chunk of
 * its own. Private, because sql.js is a process-wide singleton whose loader options only count for the first caller.
 */
function privateSqlJs(): Plugin {
  const resolve = createRequire(import.meta.url).resolve;
  const sources: Record<string, () => string> = {
    "\0virtual:sql.js/glue": () => {
      const text = readFileSync(resolve("sql.js/dist/sql-wasm-browser.js"), "utf8");
      const [head, tail, ...rest] = text.split("// This bit below is copied almost exactly");
      // Names of SQLite's constants, for those who use sql.js's own interface: a tenth of a page's JavaScript.
      const lean = head!.replace(/\{SQLITE_ABORT:[^{}]*\}/, "{}").replace(/"SQLITE_ABORT SQLITE_[^"]*"/, '""');
      const isAsKnown = tail !== undefined && rest.length === 0 && head!.includes("var initSqlJsPromise = undefined;");
      if (!isAsKnown || lean.includes("SQLITE_ABORT")) {
        throw new Error("sql.js moved its text: look at sql-wasm-browser.js and mend the cuts in vite.config.ts");
      }
      // A load that failed must not be remembered: every call makes a fresh instance. The glue sets `module`, which a
      // script may and a module may not.
      return `let module;\n${lean}\nexport default (config) => { initSqlJsPromise = undefined; return initSqlJs(config); };\n`;
    },
    "\0virtual:sql.js/wasm": () => {
      const wasm = readFileSync(resolve("sql.js/dist/sql-wasm-browser.wasm"));
      return `export default "${gzipSync(wasm, { level: 9 }).toString("base64")}";\n`;
    },
  };
  return {
    name: "private-sql.js",
    resolveId: (id) => (`\0${id}` in sources ? `\0${id}` : undefined),
    load: (id) => sources[id]?.(),
  };
}

export default defineConfig({
  plugins: [privateSqlJs()],
  build: {
    target: "es2022",
    sourcemap: true,
    lib: {
      entry: {
        node: "adapters/node.ts",
        browser: "adapters/browser.ts",
        file: "adapters/file/index.ts",
        indexeddb: "adapters/indexeddb/index.ts",
        memory: "adapters/memory.ts",
        opfs: "adapters/opfs/index.ts",
        contract: "src/contract/index.ts",
        testing: "adapters/simulation/index.ts",
      },
      formats: ["es"],
    },
    rolldownOptions: {
      external: [/^node:/, "superstruct", "idb-keyval"],
      output: {
        // Pages load this as it is; who debugs has the maps. Vite itself would leave a library's whitespace.
        minify: {
          compress: true,
          mangle: { keepNames: { class: true, function: false } },
          codegen: { removeWhitespace: true },
        },
        chunkFileNames: "chunks/[name]-[hash].js",
      },
    },
  },
  test: {
    reporters: ["default", closingLine()],
    // Most tests wait for disks and processes: a core that vitest would keep free is one that does nothing.
    maxWorkers: "100%",
    coverage: { include: ["src/**", "adapters/**"], exclude: ["**/*.test.ts"] },
    projects: [
      {
        extends: true,
        test: {
          name: "node",
          include: ["src/**/*.test.ts", "adapters/**/*.test.ts", "e2e/**/*.test.ts"],
          // Generous, because a busy machine is no failure: nothing here asserts how long things take.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
