// Builds the page of `npm run demo`, and serves it. The library's own build is the vite.config.ts at the top.
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

/** Writes into the service worker which files make up the page, and a version that changes with any of them. */
function precache(): Plugin {
  return {
    name: "precache",
    generateBundle: {
      // After index.html is there.
      order: "post",
      handler(_options, bundle) {
        const worker = bundle["sw.js"];
        if (worker?.type !== "chunk") throw new Error("the build made no sw.js");
        const files = Object.values(bundle).filter((file) => file !== worker);
        if (!files.some(({ fileName }) => fileName === "index.html")) throw new Error("index.html came too late");
        const hash = createHash("sha256");
        for (const file of files) hash.update(file.type === "chunk" ? file.code : file.source);
        // The page is asked for by its folder.
        const names = files.map(({ fileName }) => (fileName === "index.html" ? "./" : `./${fileName}`));
        worker.code = worker.code
          .replaceAll("__FILES__", JSON.stringify(names.sort()))
          .replaceAll("__VERSION__", JSON.stringify(hash.digest("hex").slice(0, 12)));
      },
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  plugins: [precache()],
  build: {
    outDir: fileURLToPath(new URL("../../node_modules/.cache/perdure-demo", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    // Both would put something into the page that its policy forbids.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: {
        page: fileURLToPath(new URL("index.html", import.meta.url)),
        sw: fileURLToPath(new URL("sw.ts", import.meta.url)),
      },
      output: { entryFileNames: ({ name }) => (name === "sw" ? "sw.js" : "assets/[name]-[hash].js") },
    },
  },
  // The database belongs to the origin, so the port has to stay the same.
  preview: { port: 4680, strictPort: true },
});
