// Listings: filters to SQL, cursors to places. Every filter is answered from an index in the order of ids, so a page
// costs the same wherever it is.
import { checkOptions, isBoolean, type OptionChecks } from "../check.ts";
import { RecordInvalid } from "../errors.ts";
import type { Row, Value } from "../engine/row.ts";
import { checkId } from "../records/codec.ts";
import { type ExecutionSummary, type Status, STATUSES } from "../records/structs.ts";
import { GUARDED_SUMMARY, IS_ROOT, STATUS, SUMMARY } from "../sql.ts";

/** Filters, which all must hold, and the page. */
export interface ListOptions {
  /** Only these statuses. An empty list gives an empty page. */
  readonly status?: Status | readonly Status[] | null;
  readonly definitionId?: string | null;
  /** Only Executions without a parent. */
  readonly rootsOnly?: boolean;
  /** Rows in a page, at least 1. Default 100. */
  readonly limit?: number;
  /** Where the page before ended. Opaque; one that cannot be read means the first page. */
  readonly cursor?: string | null;
}

/** A page of a listing. */
export interface Page {
  readonly items: ExecutionSummary[];
  /** For the next page; null on the last one. */
  readonly nextCursor: string | null;
}

const anything = { is: () => true, expected: "anything" };
/** Most are looked at where they are used; a cursor that is none means the first page. */
const LIST_CHECKS: OptionChecks = {
  status: anything,
  definitionId: anything,
  rootsOnly: isBoolean,
  limit: anything,
  cursor: anything,
};
const DEFAULT_LIMIT = 100;
const KEYSET = "k:";

/** A listing ready to run: `limit + 1` rows are asked for, to know whether there are more. */
export interface Listing {
  readonly sql: string;
  /** The same, and slower, for when that meets a row that is no JSON: one bad row never breaks a page. */
  readonly guardedSql: string;
  readonly values: readonly Value[];
  readonly limit: number;
}

/** Checks the options and makes SQL of them; null when the page is empty whatever is stored. Throws `RecordInvalid`. */
export function planListing(options: ListOptions = {}): Listing | null {
  checkOptions("listExecutions", options, LIST_CHECKS);
  const { definitionId = null, rootsOnly = false, cursor = null } = options;
  const limit = checkLimit(options.limit ?? DEFAULT_LIMIT);
  if (definitionId !== null) checkId("listExecutions", definitionId, ["definitionId"]);
  const statuses = wantedStatuses(options.status ?? null);
  if (statuses?.length === 0) return null;
  const { after, offset } = readCursor(cursor);

  /**
   * One SELECT in the order of ids; with several statuses each has its own stretch of the index, merged by SQLite. Why its
   * parameters are `+?` is said in sql.ts.
   */
  const arm = (status: string | null): { where: string; values: Value[] } => {
    const where: string[] = ["1=1"];
    const values: Value[] = [];
    const and = (condition: string, ...more: Value[]): void => {
      where.push(condition);
      values.push(...more);
    };
    if (status !== null) and(`${STATUS} = +?`, status);
    if (definitionId !== null) and("definition_id = +?", definitionId);
    if (rootsOnly) and(IS_ROOT);
    if (after !== null) and("id > +?", after);
    return { where: where.join(" AND "), values };
  };
  const arms = (statuses ?? [null]).map(arm);
  const select = (summary: string): string =>
    `${arms.map(({ where }) => `${summary} WHERE ${where}`).join(" UNION ALL ")} ORDER BY id LIMIT +? OFFSET +?`;
  return {
    sql: select(SUMMARY),
    guardedSql: select(GUARDED_SUMMARY),
    values: [...arms.flatMap(({ values }) => values), limit + 1, offset],
    limit,
  };
}

/** The page made of what a listing gave. */
export function makePage(rows: ExecutionSummary[], limit: number): Page {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? writeCursor(last.id) : null };
}

/** A summary from a row of `SUMMARY`. What cannot be read is null: one bad row never breaks a page. */
export function readSummary(row: Row): ExecutionSummary {
  const fields = row.text(3, true);
  const [status = null, outcome = null, activePath = null, parentId = null] = readFields(fields);
  return {
    id: row.text(0, true) ?? "",
    definition_id: row.text(1, true) ?? "",
    status: (status ?? "PENDING") as Status,
    outcome,
    active_path: activePath,
    version: row.number(2) ?? 0,
    parent_id: parentId,
  };
}

/** The fields as text, as a column of their own would give them. */
function readFields(json: string | null): (string | null)[] {
  if (json === null) return [];
  try {
    const values = JSON.parse(json) as unknown[];
    return values.map((value) => (value === null || typeof value === "string" ? value : JSON.stringify(value)));
  } catch {
    return [];
  }
}

export function checkLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new RecordInvalid("limit", [], "expected an integer of at least 1");
  return limit;
}

function wantedStatuses(status: Status | readonly Status[] | null): string[] | null {
  if (status === null) return null;
  const list: readonly string[] = typeof status === "string" ? [status] : status;
  const isKnown = (one: unknown): boolean => STATUSES.includes(one as Status);
  if (!Array.isArray(list) || !list.every(isKnown)) {
    throw new RecordInvalid("listExecutions", ["status"], `expected some of ${STATUSES.join(", ")}`);
  }
  return [...new Set(list)];
}

function writeCursor(id: string): string {
  const bytes = new TextEncoder().encode(KEYSET + id);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Ours says after which id to go on; the original's says how many rows to skip. */
function readCursor(cursor: string | null): { readonly after: string | null; readonly offset: number } {
  const text = cursor === null ? null : decodeBase64(cursor);
  if (text?.startsWith(KEYSET)) return { after: text.slice(KEYSET.length), offset: 0 };
  const offset = text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return { after: null, offset };
}

function decodeBase64(text: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
