// The `-wal` file: opened, and created whole. What is done with it then is the log's own affair.
import * as fs from "node:fs";
import { systemCode } from "../../src/errors.ts";
import type { PageDelta } from "../../src/port.ts";
import { isSomethingElse, Log, scanLog } from "../wal/log.ts";
import type { Program } from "../wal/program.ts";
import { closing } from "../wal/random-access-file.ts";
import { type LogPosition, type Scanned, writeHeader } from "../wal/wal.ts";
import { createFile, openFile, syncDirectoryOf } from "./disk.ts";

const NOWHERE = (): boolean => false;

/** The log at a path with what it holds, or null when SQLite would take it for empty. */
export function openLog(path: string): { readonly log: Log; readonly scanned: Scanned } | null {
  const file = openIfThere(path);
  if (file === null) return null;
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
  const file = openIfThere(path);
  return file !== null && closing(file, () => isSomethingElse(file));
}

/** A stock SQLite may make one and take it away again at any time: asking first whether it is there would not do. */
function openIfThere(path: string): ReturnType<typeof openFile> | null {
  try {
    return openFile(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
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
