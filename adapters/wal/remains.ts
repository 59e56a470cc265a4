// A database file and its log read without judging them: every page that is still there, in its last state, and what was
// found missing. For salvage. Reads only, and never more than there is, whatever the numbers in the file say.
import { PerdureError } from "../../src/errors.ts";
import { guessPageSize } from "../../src/format/pages.ts";
import { type Problem, problemIn, type Remains } from "../../src/port.ts";
import { transactionsBehind } from "./broken-log.ts";
import { type DatabaseFile, readable } from "./database-file.ts";
import { mostPages, spans, these } from "./gaps.ts";
import { HEADER_BYTES, type Header, readDatabaseHeader } from "./header.ts";
import { type ReadableFile, readPart } from "./random-access-file.ts";
import { endOf, type LogPosition, readHeader, scan, startLog, WAL_HEADER_BYTES } from "./wal.ts";

type Report = (where: "base" | "log", problem: string, page?: number | null, offset?: number | null) => void;

/** Pages as the log has them: null where a frame is damaged. */
interface Logged {
  readonly pages: Map<number, Uint8Array | null>;
  readonly pageCount: number | null;
}

/** The same of bytes that somebody read elsewhere. */
export function remainsOfBytes(from: DatabaseFile): Remains {
  return remainsOf("the bytes given", from);
}

/** Whatever can be read. Never throws. */
export function remainsOf(place: string, { database, wal }: DatabaseFile): Remains {
  const problems: Problem[] = [];
  const report: Report = (where, problem, page = null, offset = null) =>
    void problems.push(problemIn("storage", where, problem, { page, offset }));
  const header = readHeaderAnyway(database, place, report);
  const log = wal === null || wal.length === 0 ? null : readable(wal);
  const start = log === null ? null : startOf(log, header?.pageSize ?? null, report);
  const pageSize = header?.pageSize ?? start?.pageSize ?? guessPageSize(database);
  let logged: Logged = { pages: new Map(), pageCount: null };
  if (log !== null && start !== null) {
    if (start.pageSize === pageSize) logged = readLogAnyway(log, start, report);
    else report("log", "it has pages of another size, and is left out", null, 8);
  }
  const whole = Math.floor(database.length / pageSize);
  const wanted = logged.pageCount ?? header?.pageCount ?? 0;
  // A count may be anything: no more pages than there can be something of.
  let pageCount = Math.max(whole, Math.ceil(database.length / pageSize));
  const most = Math.min(wanted, mostPages(pageCount + logged.pages.size));
  for (const number of logged.pages.keys()) pageCount = Math.max(pageCount, number <= most ? number : 0);
  if (logged.pageCount !== null) pageCount = Math.min(pageCount, logged.pageCount);
  const cutOff: number[] = [];
  for (let number = whole + 1; number <= pageCount; number++) if (!logged.pages.has(number)) cutOff.push(number);
  for (const [first, last] of spans(cutOff)) {
    report("base", `${these("page", first, last)} cut off`, first, (first - 1) * pageSize);
  }
  if (wanted > pageCount) report("base", `pages ${pageCount + 1} to ${wanted} are missing (truncated)`, pageCount + 1);
  return {
    place,
    pageSize,
    pageCount,
    page(number) {
      const inLog = logged.pages.get(number);
      if (inLog !== undefined) return inLog;
      return number > whole ? null : database.subarray((number - 1) * pageSize, number * pageSize);
    },
    problems,
  };
}

function readHeaderAnyway(database: Uint8Array, place: string, report: Report): Header | null {
  try {
    return readDatabaseHeader(database.subarray(0, HEADER_BYTES), place);
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    report("base", error.message, 1, 0);
    return null;
  }
}

/** Where the log starts. Without a header its first frame tells the salts; that frame itself cannot be checked then. */
function startOf(log: ReadableFile, pageSize: number | null, report: Report): LogPosition | null {
  const header = readPart(log, 0, WAL_HEADER_BYTES + 24);
  const start = readHeader(header.subarray(0, WAL_HEADER_BYTES));
  if (start !== null || header.every((byte) => byte === 0)) return start;
  report("log", "its header is none", null, 0);
  if (pageSize === null || header.length < WAL_HEADER_BYTES + 24) return null;
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  return startLog(pageSize, 0, view.getUint32(WAL_HEADER_BYTES + 8), view.getUint32(WAL_HEADER_BYTES + 12));
}

/**
 * What the log holds, behind damage too: a transaction that is not whole counts when one that is whole follows, for then
 * it was finished. One at the end was being written, for all that can be told.
 */
function readLogAnyway(log: ReadableFile, start: LogPosition, report: Report): Logged {
  const sound = scan(start, (at, bytes) => readPart(log, at, bytes));
  const pages: Map<number, Uint8Array | null> = new Map(sound.pages);
  let { pageCount } = sound;
  const behind = [...transactionsBehind(log, sound.position)];
  const last = behind.findLastIndex(({ isWhole }, i) => i > 0 && isWhole);
  for (const [i, { frames }] of behind.entries()) {
    if (i > last) {
      if (frames.at(-1)!.pageCount === 0) continue;
      report("log", "its last transaction is damaged, and left out", null, endOf(sound.position));
      continue;
    }
    for (const { number, page, bytes } of frames) {
      if (page !== null) pages.set(page, bytes);
      if (bytes !== null) continue;
      const which = page === null ? "what page it holds is not known" : `page ${page} is lost`;
      report("log", `frame ${number} fails its checksum: ${which}`, page, endOf({ ...start, frames: number - 1 }));
    }
    pageCount = frames.at(-1)!.pageCount;
  }
  return { pages, pageCount };
}
