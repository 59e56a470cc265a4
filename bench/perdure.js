// The package as it was built, which is what users run. The types come from its sources, so that a type check needs no
// build.
const dist = new URL("../dist/", import.meta.url);

/** @type {typeof import("../adapters/node.ts")} */
const main = await import(new URL("node.js", dist).href);
/** @type {typeof import("../adapters/file/index.ts")} */
const file = await import(new URL("file.js", dist).href);
/** @type {typeof import("../adapters/memory.ts")} */
const memory = await import(new URL("memory.js", dist).href);

export const { AsyncSqliteStore, SqliteStore } = main;
export const { asyncFileAdapter, fileAdapter } = file;
export const { memoryAdapter } = memory;
