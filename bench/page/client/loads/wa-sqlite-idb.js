import * as SQLite from "@journeyapps/wa-sqlite";
import factory from "@journeyapps/wa-sqlite/dist/wa-sqlite-async.mjs";
import { IDBBatchAtomicVFS } from "@journeyapps/wa-sqlite/src/examples/IDBBatchAtomicVFS.js";

const module = await factory();
export const sqlite3 = SQLite.Factory(module);
/** @type {any} What its types know of file systems is of an older one. */
const FileSystem = IDBBatchAtomicVFS;
sqlite3.vfs_register(await FileSystem.create("orders", module), true);
