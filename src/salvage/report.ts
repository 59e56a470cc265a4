// What a salvage tells: types alone.
import type { Problem, RowKind } from "../port.ts";

/** Something that could not be brought over. Never what the user stored. */
export interface Lost {
  /** Null when nobody can tell. */
  readonly table: RowKind | null;
  /**
   * "page": a page is missing, damaged or another table's, and all its rows with it, unless they were found elsewhere.
   * "row": a row that is not there whole. "content": a row with other types than the table's, or text that is no JSON.
   * "key": another row has its key already; of two states of an Execution the later one stays.
   * "missing": an index names a row that was found nowhere.
   */
  readonly reason: "page" | "row" | "content" | "key" | "missing";
  readonly page: number | null;
  /** SQLite's number of the row: `seq` in outbox and spawns. */
  readonly rowid: number | null;
  /** The Execution it belongs to. */
  readonly id: string | null;
  /** How many rows; null when nobody can tell. */
  readonly rows: number | null;
}

/** What came of a salvage. */
export interface SalvageReport {
  /** Rows in the new place. */
  readonly rows: Readonly<Record<RowKind, number>>;
  /** What could not be brought over, as far as anything tells of it. Empty: nothing is known to be missing. */
  readonly lost: readonly Lost[];
  /** What was found damaged on the way: pages that are cut off, blocks and records that are missing or fail their checksum. */
  readonly problems: readonly Problem[];
  /** Tables of other programs. They are not brought over. */
  readonly otherTables: readonly string[];
}
