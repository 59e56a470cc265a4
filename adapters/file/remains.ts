// What is left of a database file, read for salvage: without a lease, without writing, and whatever state it is in.
import * as fs from "node:fs";
import { StorageRefused } from "../../src/errors.ts";
import { problemIn, type Remains } from "../../src/port.ts";
import type { DatabaseFile } from "../wal/database-file.ts";
import { remainsOf, remainsOfBytes } from "../wal/remains.ts";
import { resolvePlace } from "./disk.ts";
import { checkPath } from "./options.ts";
import { translating } from "./translating.ts";

/** Reads file and log, or takes their bytes. Throws `StorageRefused` when nothing is there, or it cannot be read. */
export function remains(from: string | DatabaseFile): Remains {
  if (typeof from !== "string") return remainsOfBytes(from);
  checkPath(from);
  const path = translating(from, () => resolvePlace(from));
  const database = readIfThere(from, path);
  const wal = readIfThere(from, `${path}-wal`);
  if (database === null && wal === null) throw new StorageRefused("storage-missing", from, "nothing is there");
  const found = remainsOf(from, { database: database ?? new Uint8Array(0), wal });
  if (readIfThere(from, `${path}-journal`)?.some((byte) => byte !== 0) !== true) return found;
  const problem = "a transaction of another program is unfinished (-journal); what it had written is taken as it is";
  return { ...found, problems: [...found.problems, problemIn("storage", "base", problem)] };
}

function readIfThere(place: string, path: string): Uint8Array | null {
  return translating(place, () => {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (!found.isFile()) throw new StorageRefused("not-a-database", place, "a directory or a device, not a file");
    return new Uint8Array(fs.readFileSync(path));
  });
}
