// What to do when the log is not the one we knew: replaced, removed or started over behind us. The order of questions
// matters: never drop what we acknowledged, never drop what another store acknowledged, and when the two cannot be told
// apart, refuse and touch nothing.
import { StorageRefused } from "../../src/errors.ts";
import type { Pages } from "../../src/port.ts";
import type { Base } from "../wal/base.ts";
import type { Log } from "../wal/log.ts";
import type { LogPosition, Scanned } from "../wal/wal.ts";

/** A log of ours counts its first salt up by one each time; a stranger's is random, and this near one time in 65,536. */
const MAX_SUCCESSORS = 0xffff;
const CHANGE_COUNTER_AT = 24;

export type Verdict =
  /** The disk has all that we have, and maybe more: load it. */
  | "disk"
  /** The disk has exactly what we have. */
  | "same"
  /** The disk has less than was acknowledged: write the difference. */
  | "ours";

/**
 * @param known the log as we knew it
 * @param end where it ended, with all that others had appended
 * @param pages what was in base and log together at that end
 * @param found what is at the log's path now, or null when SQLite would find nothing there
 */
export function judge(
  place: string,
  base: Base,
  known: Log,
  end: LogPosition,
  pages: Pages,
  found: { readonly log: Log; readonly scanned: Scanned } | null,
): Verdict {
  const committed = found !== null && found.scanned.pageCount !== null;
  if (found !== null && isSuccessor(found.log.position, known.position)) return "disk";
  // A copy of our log as it was some time ago, put back in its place.
  if (committed && known.isPrefix(found.scanned.position, end)) return "ours";
  const baseIsComplete = base.differences(pages).size === 0;
  // Somebody's SQLite finished the log and took it away; who opened the file since then started from all we had.
  if (baseIsComplete) return committed ? "disk" : "same";
  if (!committed && isOlder(base.readHeader().changeCounter, pages)) return "ours";
  throw new StorageRefused(
    "storage-replaced",
    place,
    "another program wrote to it while it was open here, and the two cannot be joined; open it again to take what is there",
  );
}

function isSuccessor(found: LogPosition, known: LogPosition): boolean {
  const steps = (found.salt1 - known.salt1) >>> 0;
  return steps >= 1 && steps <= MAX_SUCCESSORS;
}

/** Every transaction of ours counts up; the counter may wrap. */
function isOlder(counter: number, pages: Pages): boolean {
  const page1 = pages.page(1);
  const ours = new DataView(page1.buffer, page1.byteOffset).getUint32(CHANGE_COUNTER_AT);
  return ((counter - ours) | 0) < 0;
}
