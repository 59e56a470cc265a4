// What to do when the log is not the one we knew: replaced, removed or started over behind us. The order of questions
// matters: never drop what we acknowledged, never drop what another store acknowledged, and when the two cannot be told
// apart, refuse and touch nothing.
import { StorageRefused } from "../../src/errors.ts";
import type { Pages } from "../../src/port.ts";
import type { Base } from "../wal/base.ts";
import { framesReplaced, isSuccessor, replacementOf } from "../wal/lineage.ts";
import type { Log } from "../wal/log.ts";
import { overlay } from "../wal/pages.ts";
import type { LogPosition, Scanned } from "../wal/wal.ts";
import type { Pair } from "./files.ts";
import { openLog } from "./log-file.ts";

const CHANGE_COUNTER_AT = 24;
const NONE: ReadonlyMap<number, Uint8Array> = new Map();

type Verdict =
  /** The disk has all that we have, and maybe more: load it. */
  | "disk"
  /** The disk has exactly what we have. */
  | "same"
  /** The disk has less than was acknowledged: write the difference. */
  | "ours";

interface Finding {
  readonly verdict: Verdict;
  /** How far what we go on with had got. */
  readonly reached: LogPosition;
  /** What there is when it is ours that counts, and the pages of it that others wrote since we looked. */
  readonly whole: Pages;
  readonly others: ReadonlyMap<number, Uint8Array>;
  /** Where the log in place of the lost one starts, and the pages that it needs. */
  readonly start: LogPosition;
  readonly missing: ReadonlyMap<number, Uint8Array>;
}

/** What became of a log that is not `log` as it was left. `pages` is what there was then. Throws `StorageRefused`. */
export function examine(place: string, { base, log }: Pair, logPath: string, pages: Pages): Finding {
  // Others may have appended to the old file before it was taken away; it is still open here.
  const last = !log.isInPlace() && log.isSameLog() && log.isWhole() ? log.readOn() : null;
  const whole = last === null ? pages : overlay(pages, last);
  const end = last?.position ?? log.position;
  const found = openLog(logPath);
  try {
    const verdict = judge(place, base, log, end, whole, found);
    const reached = verdict === "disk" ? found!.scanned.position : end;
    const start = last === null ? replacementOf(log.position) : log.successor();
    const missing = verdict === "ours" ? base.differences(whole) : NONE;
    return { verdict, reached, whole, others: last?.pages ?? NONE, start, missing };
  } finally {
    found?.log.close();
  }
}

/**
 * @param known the log as we knew it
 * @param end where it ended, with all that others had appended
 * @param pages what was in base and log together at that end
 * @param found what is at the log's path now, or null when SQLite would find nothing there
 */
function judge(
  place: string,
  base: Base,
  known: Log,
  end: LogPosition,
  pages: Pages,
  found: { readonly log: Log; readonly scanned: Scanned } | null,
): Verdict {
  const committed = found !== null && found.scanned.pageCount !== null;
  if (found !== null && isFollowed(known, end, found.log.position)) {
    // Whoever started it over had moved all we have into the base: what is there cannot be older.
    const page1 = found.scanned.pages.get(1);
    const counter = page1 === undefined ? base.readHeader().changeCounter : counterOf(page1);
    if (!isOlder(counter, pages)) return "disk";
    throw refuseCut(place);
  }
  // A copy of our log as it was some time ago, put back in its place, or what is left of it.
  if (committed && known.isPrefix(found.scanned.position, end)) return "ours";
  const baseIsComplete = base.differences(pages).size === 0;
  // Somebody's SQLite finished the log and took it away; who opened the file since then started from all we had.
  if (baseIsComplete) return committed ? "disk" : "same";
  if (!committed && isOlder(base.readHeader().changeCounter, pages)) return "ours";
  throw refuseCut(place);
}

/** Whether what is found goes on from all that we have. */
function isFollowed(known: Log, end: LogPosition, found: LogPosition): boolean {
  if (isSuccessor(found, known.position)) return true;
  // Made by another store from its memory, when the end of ours was lost: it need not have seen all that we have.
  const frames = framesReplaced(found, known.position);
  return frames !== null && frames >= end.frames;
}

function refuseCut(place: string): StorageRefused {
  return new StorageRefused(
    "storage-replaced",
    place,
    "its log (-wal) was cut or written over while it was open here, and what is there now cannot be joined with what was " +
      "committed here; open it again to take what is there",
  );
}

/** Every transaction of ours counts up; the counter may wrap. */
function isOlder(counter: number, pages: Pages): boolean {
  return ((counter - counterOf(pages.page(1))) | 0) < 0;
}

function counterOf(page1: Uint8Array): number {
  return new DataView(page1.buffer, page1.byteOffset).getUint32(CHANGE_COUNTER_AT);
}
