// Holds what is stored against what is in memory: every page of base and log read anew, every checksum of the log taken
// anew. Reads only; gives what is wrong as data.
import { PerdureError } from "../../src/errors.ts";
import { type Pages, type Problem, problemIn } from "../../src/port.ts";
import type { Base } from "./base.ts";
import type { Log } from "./log.ts";
import { samePage } from "./pages.ts";
import { endOf, type Scanned } from "./wal.ts";

/** What differs. Needs the lease, and a log that was read to its end. */
export function verifyStored(base: Base, log: Log, pages: Pages): Problem[] {
  const problems: Problem[] = [];
  const report = (where: "base" | "log", problem: string, page: number | null, offset: number | null): void =>
    void problems.push(problemIn("storage", where, problem, { page, offset }));
  try {
    base.readHeader();
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    report("base", error.message, 1, 0);
  }
  const scanned = log.rescan();
  if (scanned === null) report("log", "its header fails the checksum", null, 0);
  else {
    reportLostFrames(scanned, log, report);
    for (const [number, bytes] of scanned.pages) {
      if (number > pages.pageCount || samePage(bytes, pages.page(number))) continue;
      report("log", `page ${number} is not what is in memory`, number, null);
    }
  }
  for (const number of base.differences(pages).keys()) {
    if (scanned?.pages.has(number)) continue;
    report("base", `page ${number} is not what is in memory`, number, (number - 1) * pages.pageSize);
  }
  return problems;
}

function reportLostFrames(
  { position: found }: Scanned,
  { position: known }: Log,
  report: (where: "log", problem: string, page: null, offset: number) => void,
): void {
  if (found.frames === known.frames && found.sum1 === known.sum1 && found.sum2 === known.sum2) return;
  const problem = `frame ${found.frames + 1} of ${known.frames} fails its checksum, or the transaction it belongs to does`;
  report("log", problem, null, endOf(found));
}
