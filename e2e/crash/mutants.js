// The proof that the crash matrix finds what is wrong: copies of the package, in each of which one law is broken on
// purpose, in the text of its source. The matrix must find every one of them. A text that is not there any more is an
// error: then look at what became of that line.
import { fork } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/**
 * @typedef {{ file: string, from: string, to: string }} Edit
 * @typedef {{ name: string, finds: string, isQuick?: true, edits: Edit[] }} Mutant  finds: the case that finds it
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STORAGE = "adapters/file/storage.ts";
const STRICT = "file, one by one, strict";

/** @type {Mutant[]} */
export const MUTANTS = [
  {
    name: "a commit is not synced",
    finds: STRICT,
    isQuick: true,
    edits: [{ file: STORAGE, from: "if (this.#strict) yield* log.sync();", to: "" }],
  },
  {
    name: "the header of a log that starts over is not synced before its frames",
    finds: STRICT,
    edits: [
      {
        file: "adapters/wal/log.ts",
        from: "this.#keepBytes = keepBytes;\n    yield* this.sync();",
        to: "this.#keepBytes = keepBytes;",
      },
    ],
  },
  {
    name: "folders are not synced",
    finds: STRICT,
    isQuick: true,
    edits: [
      {
        file: "adapters/file/disk.ts",
        from: "export function syncDirectoryOf(file: string): void {",
        to: "export function syncDirectoryOf(file: string): void {\n  if (file !== '') return;",
      },
    ],
  },
  {
    name: "the log starts over before the base is synced",
    finds: STRICT,
    edits: [{ file: "adapters/wal/checkpoint.ts", from: "yield* base.sync();", to: "" }],
  },
  {
    name: "relaxed, the base runs ahead of a log that is not synced",
    finds: "file, one by one, relaxed",
    edits: [{ file: STORAGE, from: "if (!this.#strict) yield* log.settle();", to: "" }],
  },
  {
    name: "a commit that was refused is not wiped",
    finds: STRICT,
    edits: [
      { file: STORAGE, from: "this.#repair.plan(() => log.wipe(end));", to: "this.#repair.plan(() => log.sync());" },
    ],
  },
  {
    name: "frames count whatever their checksums say",
    finds: STRICT,
    edits: [
      {
        file: "adapters/wal/wal.ts",
        from: "if (view.getInt32(at + 16) !== sums[0] || view.getInt32(at + 20) !== sums[1]) {",
        to: "if (view.getInt32(at + 16) === 1 && sums[0] === 2) {",
      },
    ],
  },
  {
    name: "a store that failed to catch up takes the new log for the one it knows",
    finds: "file, taking turns, strict",
    edits: [
      {
        file: "adapters/file/files.ts",
        from: "this.#log?.close();\n      this.#log = null;\n      throw error;",
        to: "throw error;",
      },
    ],
  },
  {
    name: "nobody looks whether others wrote, and nobody is fenced",
    finds: "file, taking turns, strict",
    edits: [
      {
        file: STORAGE,
        from: "if (this.#files.isCurrent()) return this.#nothingNew();\n    // Frames",
        to: "return null;\n    // Frames",
      },
      { file: STORAGE, from: "after !== this.#known || this.#files.isOvertaken()", to: "after !== this.#known" },
    ],
  },
];

/** How many violations the matrix finds in a mutant. @param {Mutant} mutant */
export async function runMutant({ name, finds, edits }) {
  const folder = join(ROOT, "node_modules/.cache/perdure-mutants", `${name.replaceAll(/\W+/g, "-")}-${process.pid}`);
  try {
    await makePackage(folder, edits);
    return await violationsIn(folder, finds);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A package that knows itself by name, with what crashes it beside it. @param {string} folder @param {Edit[]} edits */
async function makePackage(folder, edits) {
  await mkdir(folder, { recursive: true });
  const left = new Set(edits);
  await build({
    root: ROOT,
    configFile: join(ROOT, "vite.config.ts"),
    logLevel: "error",
    build: { outDir: join(folder, "dist"), emptyOutDir: true, reportCompressedSize: false },
    plugins: [
      {
        name: "mutant",
        enforce: "pre",
        transform(code, id) {
          let mutated = code;
          for (const edit of edits) {
            if (id !== join(ROOT, edit.file)) continue;
            if (mutated.split(edit.from).length !== 2) throw new Error(`${edit.file} has not once: ${edit.from}`);
            mutated = mutated.replace(edit.from, () => edit.to);
            left.delete(edit);
          }
          return mutated === code ? null : mutated;
        },
      },
    ],
  });
  if (left.size > 0) throw new Error(`no such file: ${[...left].map(({ file }) => file).join()}`);
  const manifest = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  for (const path of ["e2e/crash", "e2e/books.js", "demo/random.js"]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(ROOT, path), join(folder, path), { recursive: true });
  }
}

/** @param {string} folder @param {string} name @returns {Promise<number>} */
async function violationsIn(folder, name) {
  const child = fork(join(folder, "e2e/crash/worker.js"));
  try {
    return await new Promise((resolve, reject) => {
      child.once("message", (message) => {
        resolve(/** @type {import("./worker.js").Result} */ (message).violations.length);
      });
      child.once("exit", (code) => reject(new Error(`${name}: the process ended (${code})`)));
      child.send({ name, seed: 1, limit: 2500 });
    });
  } finally {
    child.kill();
  }
}
