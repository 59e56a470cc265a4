// What a row of each table of ours looks like, so that it is known wherever it lies: also on a page that nothing leads to
// any more. Knows no pages and no SQL but the inserts.
import type { Value } from "../engine/row.ts";
import type { Cell, Stored } from "../format/records.ts";
import type { RowKind } from "../port.ts";
import { isPlainObject, parseStored } from "../records/json.ts";

/** A row that can be brought over. */
export interface FoundRow {
  readonly table: RowKind;
  readonly values: readonly Value[];
}

/** What is known of a row that cannot: whose it is, and why. */
export interface Unfit {
  readonly id: string | null;
  readonly reason: "row" | "content";
}

interface TableShape {
  readonly table: RowKind;
  /** One letter a column: `t` text, `o` text or null, `i` integer, `n` number, `r` the rowid. */
  readonly columns: string;
  /** The column with the id of the Execution. */
  readonly id: number;
  /** The column with JSON, if any. */
  readonly json: number | null;
  readonly insert: string;
  /** Where its key is looked up: columns, and the statement. */
  readonly key: number;
  readonly lookup: string;
}

/** Of two rows with one key the first found stays; but of two Executions the later version. */
export const TABLES: readonly TableShape[] = [
  {
    table: "executions",
    columns: "ttti",
    id: 0,
    json: 2,
    insert:
      "INSERT INTO executions (id, definition_id, data, version) VALUES (?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET" +
      " definition_id = excluded.definition_id, data = excluded.data, version = excluded.version WHERE excluded.version > version",
    key: 1,
    lookup: "SELECT 1 FROM executions WHERE id = ?",
  },
  {
    table: "outbox",
    columns: "rot",
    id: 1,
    json: 2,
    insert: "INSERT OR IGNORE INTO outbox (seq, target_id, event) VALUES (?, ?, ?)",
    key: 0,
    lookup: "",
  },
  {
    table: "processed_events",
    columns: "tt",
    id: 0,
    json: null,
    insert: "INSERT OR IGNORE INTO processed_events (execution_id, event_id) VALUES (?, ?)",
    key: 2,
    lookup: "SELECT 1 FROM processed_events WHERE execution_id = ? AND event_id = ?",
  },
  {
    table: "timers",
    columns: "ttn",
    id: 0,
    json: null,
    insert: "INSERT OR IGNORE INTO timers (execution_id, path, fire_at) VALUES (?, ?, ?)",
    key: 2,
    lookup: "SELECT 1 FROM timers WHERE execution_id = ? AND path = ?",
  },
  {
    table: "spawns",
    columns: "rtttt",
    id: 1,
    json: 4,
    insert: "INSERT OR IGNORE INTO spawns (seq, parent_id, child_id, root_path, context) VALUES (?, ?, ?, ?, ?)",
    key: 0,
    lookup: "",
  },
  {
    table: "trace",
    columns: "tit",
    id: 0,
    json: 2,
    insert: "INSERT OR IGNORE INTO trace (execution_id, idx, entry) VALUES (?, ?, ?)",
    key: 2,
    lookup: "SELECT 1 FROM trace WHERE execution_id = ? AND idx = ?",
  },
];

/** Whether a cell's columns are of the types that a table of ours has. */
export function fits({ columns }: TableShape, { values }: Cell): boolean {
  return values !== null && values.length === columns.length && values.every((value, i) => isOf(columns[i]!, value));
}

/** The row in a cell of this table, or why it is none. */
export function rowOf(shape: TableShape, cell: Cell): FoundRow | Unfit {
  const { values, rowid } = cell;
  if (values === null) return { id: null, reason: "row" };
  const id = values[shape.id];
  const unfit: Unfit = { id: typeof id === "string" ? id : null, reason: "content" };
  if (!fits(shape, cell) || rowid === null) return unfit;
  if (shape.json !== null && !isStoredObject(String(values[shape.json]))) return unfit;
  return { table: shape.table, values: values.map((value, i) => bindable(shape.columns[i] === "r" ? rowid : value)) };
}

/** The id of the Execution that a row belongs to. */
export function idOf({ id }: TableShape, { values }: FoundRow): string | null {
  const value = values[id];
  return typeof value === "string" ? value : null;
}

/** What an entry of the table's own index tells: its key and its rowid, or null when it is none. */
export function keyOf({ columns, key }: TableShape, { values }: Cell): { key: Value[]; rowid: number | null } | null {
  const types = `${columns.slice(0, key)}i`;
  if (key === 0 || values === null || values.length !== types.length) return null;
  if (!values.every((value, i) => isOf(types[i]!, value))) return null;
  const rowid = values[key]!;
  return { key: values.slice(0, key).map(bindable), rowid: typeof rowid === "number" ? rowid : null };
}

/** Text is bound as it is; a number that JavaScript cannot hold too, and the column makes an integer of it again. */
function bindable(value: Stored): Value {
  return typeof value === "bigint" ? `${value}` : (value as Value);
}

function isOf(type: string, value: Stored): boolean {
  switch (type) {
    case "t":
      return typeof value === "string";
    case "o":
      return value === null || typeof value === "string";
    case "i":
      return typeof value === "bigint" || Number.isInteger(value);
    case "n":
      // SQLite makes NULL of what is no number.
      return typeof value === "bigint" || (typeof value === "number" && !Number.isNaN(value));
    default:
      return value === null;
  }
}

/** Whether a store may read it. Digits that JavaScript would lose are no damage. */
function isStoredObject(text: string): boolean {
  try {
    return isPlainObject(JSON.parse(text));
  } catch {
    // Python's NaN and Infinity.
  }
  try {
    return isPlainObject(parseStored(text, true));
  } catch {
    return false;
  }
}
