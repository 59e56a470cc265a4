// What must be in a database before the store can work on it: our tables as the contract has them, our indexes, and
// nothing that says the file belongs to somebody else.
import type { Database } from "../engine/database.ts";
import { StorageRefused } from "../errors.ts";
import { COLUMNS, INDEXES, SCHEMA } from "../sql.ts";

/** Refuses a database that is not ours to write. Reads only. Throws `StorageRefused`. */
export function checkSchema(db: Database, place: string): void {
  const version = readOne(db, "SELECT user_version FROM pragma_user_version");
  if (version !== 0) {
    throw new StorageRefused(
      "newer-format",
      place,
      `user_version is ${version}, and 0 is the only one known; use a newer perdure`,
    );
  }
  for (const table of Object.keys(COLUMNS) as OurTable[]) {
    const problem = unlikeOurs(db, table);
    if (problem === null || problem === MISSING) continue;
    throw new StorageRefused("schema-mismatch", place, `table ${table} ${problem}; it belongs to another program`);
  }
}

type OurTable = keyof typeof COLUMNS;
const MISSING = "is missing";

/**
 * What is wrong with a table of ours, or null. Only a plain table will do: a view, a virtual table or a computed column
 * by the same name is code of whoever made the file, and would run in every read.
 */
export function unlikeOurs(db: Database, table: OurTable): string | null {
  const kinds = db.prepare("SELECT type, rootpage > 0 FROM sqlite_schema WHERE name = ? COLLATE NOCASE");
  const kind = kinds.all([table], (row) => row.text(0, true) === "table" && row.number(1) === 1);
  db.discard(kinds);
  if (kind.length === 0) return MISSING;
  if (!kind.every(Boolean)) return "is no plain table";
  const columns = db.prepare("SELECT name, hidden FROM pragma_table_xinfo(?)");
  const found = columns.all([table], (row) => `${row.text(0, true)}${row.number(1) === 0 ? "" : " (computed)"}`);
  db.discard(columns);
  return found.join() === COLUMNS[table].join() ? null : "has other columns";
}

/** Whether everything is there already, so that opening need not write. */
export function isComplete(db: Database): boolean {
  const ours = SCHEMA.length + INDEXES.length;
  const names = [...Object.keys(COLUMNS), ...INDEXES.map((sql) => sql.split(" ")[5])];
  const list = names.map((name) => `'${name}'`).join();
  return readOne(db, `SELECT count(*) FROM sqlite_schema WHERE name IN (${list})`) === ours;
}

/** Creates what is missing. */
export function createMissing(db: Database): void {
  for (const sql of [...SCHEMA, ...INDEXES]) db.exec(sql);
}

function readOne(db: Database, sql: string): number | null {
  const statement = db.prepare(sql);
  const value = statement.first([], (row) => row.number(0));
  db.discard(statement);
  return value;
}
