// Bundles the page of the bench as an app's own build would: over the built package, minified.
import { gzipSync } from "node:zlib";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";

const client = `${import.meta.dirname}/client`;
const DIST = new URL("../../dist/", import.meta.url).pathname;

/** Shared by all that is built here. @param {string} dist the package as it was built */
const common = (dist) => ({
  configFile: /** @type {const} */ (false),
  logLevel: /** @type {const} */ ("error"),
  root: client,
  resolve: {
    // The package as it was built, by the names that its users write.
    alias: [
      { find: /^perdure$/, replacement: `${dist}browser.js` },
      { find: /^perdure\/(\w+)$/, replacement: `${dist}$1.js` },
    ],
  },
});

/** @param {string} folder @param {string} [dist] */
export async function buildPage(folder, dist = DIST) {
  await build({
    ...common(dist),
    build: {
      outDir: folder,
      target: "es2022",
      modulePreload: false,
      chunkSizeWarningLimit: 4096,
      rolldownOptions: {
        input: [`${client}/page.js`, `${client}/worker.js`],
        output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" },
      },
    },
  });
  cpSync(`${client}/index.html`, join(folder, "index.html"));
}

/**
 * What a page loads that uses one package and nothing else, gzipped, WebAssembly included: bundled and minified as for
 * production.
 *
 * @param {string} folder to build in
 * @param {string} entry a file of client/loads
 * @returns {Promise<number>} bytes
 */
export async function weigh(folder, entry) {
  await build({
    ...common(DIST),
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: false,
      chunkSizeWarningLimit: 4096,
      rolldownOptions: { input: `${client}/loads/${entry}.js` },
    },
  });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.reduce(
    (sum, one) => sum + gzipSync(readFileSync(join(one.parentPath, one.name)), { level: 9 }).length,
    0,
  );
}
