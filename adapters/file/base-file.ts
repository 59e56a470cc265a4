// The SQLite file: opened or refused, and created whole. What is done with it then is the base's own affair.
import { StorageRefused } from "../../src/errors.ts";
import type { PageDelta } from "../../src/port.ts";
import { Base, pageForDisk, readHeaderOf } from "../wal/base.ts";
import { refuseEmpty } from "../wal/database-file.ts";
import type { Program } from "../wal/program.ts";
import { closing, readPart } from "../wal/random-access-file.ts";
import { createFile, inspect, openFile, publish, remove } from "./disk.ts";
import { translating } from "./translating.ts";

/** New files are for their owner alone. */
const NEW_FILE_MODE = 0o600;

const NOWHERE = (): boolean => false;

/** Opens a database, or refuses; writes nothing. Null when nothing is there. */
export function openBase(path: string, place: string): Base | null {
  const found = translating(place, () => inspect(path));
  if (found === null) return null;
  if (!found.isFile) throw new StorageRefused("not-a-database", place, "a directory or a device, not a file");
  refuseEmpty(place, found.size);
  const file = translating(place, () => openFile(path));
  try {
    const { pageSize } = readHeaderOf(file, place);
    refuseHotJournal(path, place);
    return new Base(place, file, pageSize, file.placeAt(path) ?? NOWHERE);
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Refuses what can be seen without the lease, so that a place that is refused is not even locked. */
export function refuseEarly(path: string, place: string, mustExist: boolean): void {
  const found = translating(place, () => inspect(path));
  if (found !== null) translating(place, () => openBase(path, place))?.close();
  else if (mustExist) throw new StorageRefused("storage-missing", place, "nothing is there (mustExist)");
}

/** A new database that holds `pages`, all of it or nothing. */
export function* createBase(
  path: string,
  place: string,
  temporary: string,
  { pageSize, pages }: PageDelta,
): Program<Base> {
  const file = createFile(temporary, NEW_FILE_MODE);
  try {
    for (const [number, bytes] of pages) file.write(pageForDisk(number, bytes), (number - 1) * pageSize);
    yield { kind: "sync", file };
    publish(temporary, path);
    return new Base(place, file, pageSize, file.placeAt(path) ?? NOWHERE);
  } catch (error) {
    // It may have its name already, and its folder not synced.
    if (file.placeAt(path) !== null) remove(path);
    remove(temporary);
    file.close();
    throw error;
  }
}

/** The mode that what is made beside the database gets. */
export function modeOf(path: string): number {
  return inspect(path)?.mode ?? NEW_FILE_MODE;
}

/**
 * A rollback journal with a header holds what a transaction cut short had overwritten, or belongs to a writer at work.
 * Which of the two, only SQLite's own locks can tell; so SQLite itself must put it right.
 */
function refuseHotJournal(path: string, place: string): void {
  const journal = `${path}-journal`;
  if ((inspect(journal)?.size ?? 0) === 0) return;
  const file = openFile(journal);
  const [first] = closing(file, () => readPart(file, 0, 1));
  if (first === 0) return;
  const remedy = `let SQLite finish or roll it back: sqlite3 FILE "SELECT count(*) FROM sqlite_schema"`;
  throw new StorageRefused(
    "hot-journal",
    place,
    `a transaction of another program is unfinished (${journal}); ${remedy}`,
  );
}
