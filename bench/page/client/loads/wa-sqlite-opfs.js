import * as SQLite from "@journeyapps/wa-sqlite";
import factory from "@journeyapps/wa-sqlite/dist/wa-sqlite.mjs";
import { AccessHandlePoolVFS } from "@journeyapps/wa-sqlite/src/examples/AccessHandlePoolVFS.js";

const module = await factory();
export const sqlite3 = SQLite.Factory(module);
/** @type {any} What its types know of file systems is of an older one. */
const FileSystem = AccessHandlePoolVFS;
sqlite3.vfs_register(await FileSystem.create("orders", module), true);
