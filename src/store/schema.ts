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
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const statement = db.prepare("SELECT name FROM pragma_table_info(?)");
    const found = statement.all([table], (row) => row.text(0, true));
    db.discard(statement);
    if (found.length > 0 && found.join() !== columns.join()) {
      throw new StorageRefused(
        "schema-mismatch",
        place,
        `table ${table} has other columns; it belongs to another program`,
      );
    }
  }
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
