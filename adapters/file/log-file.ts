// The `-wal` file: opened, and created whole. What is done with it then is the log's own affair.
import * as fs from "node:fs";
import type { PageDelta } from "../../src/port.ts";
import { isSomethingElse, Log, scanLog } from "../wal/log.ts";
import type { Program } from "../wal/program.ts";
import { closing } from "../wal/random-access-file.ts";
import { type LogPosition, type Scanned, writeHeader } from "../wal/wal.ts";
import { createFile, openFile, syncDirectoryOf } from "./disk.ts";
import { identityAt } from "./in-place.ts";

const NOWHERE = (): boolean => false;

/** The log at a path with what it holds, or null when SQLite would take it for empty. */
export function openLog(path: string): { readonly log: Log; readonly scanned: Scanned } | null {
  if (identityAt(path) === null) return null;
  const file = openFile(path);
  try {
    const scanned = scanLog(file);
    if (scanned !== null) {
      const log = new Log(file, scanned.position, file.placeAt(path) ?? NOWHERE, true);
      log.noteEnds(scanned.ends);
      return { log, scanned };
    }
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return null;
}

/** Whether bytes lie there that are not a log's. */
export function isOtherThanLog(path: string): boolean {
  if (identityAt(path) === null) return false;
  const file = openFile(path);
  return closing(file, () => isSomethingElse(file));
}

/**
 * A new log, in place of whatever is at the path, whose first transaction is `delta` when there is one. It appears
 * whole or not at all.
 */
export function* createLog(
  path: string,
  temporary: string,
  mode: number,
  start: LogPosition,
  delta: PageDelta | null,
): Program<Log> {
  const file = createFile(temporary, mode);
  let isInPlace = NOWHERE;
  try {
    file.write(writeHeader(start), 0);
    const log = new Log(file, start, () => isInPlace(), false);
    if (delta !== null) log.advance(log.write(delta));
    yield { kind: "sync", file };
    fs.renameSync(temporary, path);
    isInPlace = file.placeAt(path) ?? NOWHERE;
    syncDirectoryOf(path);
    return log;
  } catch (error) {
    file.close();
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}
