// What `verify` looks at in an open database: the schema, SQLite's own check, and every row of ours. Reads only; gives
// what is wrong as data. Row by row, so that it needs no memory to speak of, and never with a value of the user's.
import type { Database } from "../engine/database.ts";
import type { Row } from "../engine/row.ts";
import { ImageCorrupt, RecordInvalid, SqlFailed } from "../errors.ts";
import { type Problem, problemIn } from "../port.ts";
import { decodeEvent, decodeExecution, decodeObject } from "../records/codec.ts";
import { isId } from "../records/structs.ts";
import { COLUMNS, INDEXES } from "../sql.ts";
import { unlikeOurs } from "./schema.ts";

const CORRUPT = 11;
const NOT_A_DATABASE = 26;
/** A larger limit SQLite would take for the name of a table. */
const LARGEST_LIMIT = 2 ** 31 - 1;

/** What is told about a row that is not as it should be. */
type Fault = Pick<Problem, "kind" | "problem">;

interface Table {
  readonly name: keyof typeof COLUMNS;
  /** The types that each column may have, as SQLite's `typeof` names them. */
  readonly types: readonly string[];
  /** The column with the id of the Execution, and the one with the row's number, if any. */
  readonly id: number | null;
  readonly row: number | null;
  /** Looks into a row whose columns have the right types. */
  readonly check: (row: Row, report: (fault: Fault) => void) => void;
  readonly order?: string;
}

const isNumber = (value: number | null): boolean => value !== null && Number.isFinite(value);

/** Table by table. `last` of the trace is the row before. */
const tables = (): readonly Table[] => {
  let last = { id: "", index: -1 };
  return [
    {
      name: "executions",
      types: ["text", "text", "text", "integer"],
      id: 0,
      row: null,
      check(row, report) {
        const exe = decodeExecution(row.text(0)!, row.text(2)!);
        const differs = (what: string): void =>
          report({ kind: "version", problem: `data and column have another ${what}` });
        if (exe.id !== row.text(0)) differs("id");
        if (exe.definition_id !== row.text(1)) differs("definition_id");
        if (exe.version !== row.number(3)) differs("version");
      },
    },
    {
      name: "outbox",
      types: ["integer", "text null", "text"],
      id: 1,
      row: 0,
      check: (row) => void decodeEvent(`outbox ${row.number(0)}`, row.text(2)!),
    },
    { name: "processed_events", types: ["text", "text"], id: 0, row: null, check: () => {} },
    {
      name: "timers",
      types: ["text", "text", "real"],
      id: 0,
      row: null,
      check(row, report) {
        if (!isNumber(row.number(2))) report({ kind: "row", problem: "fire_at is no instant" });
      },
    },
    {
      name: "spawns",
      types: ["integer", "text", "text", "text", "text"],
      id: 1,
      row: 0,
      check: (row) => void decodeObject(`spawn ${row.number(0)}`, row.text(4)!),
    },
    {
      name: "trace",
      types: ["text", "integer", "text"],
      id: 0,
      row: 1,
      order: "ORDER BY execution_id, idx",
      check(row, report) {
        const id = row.text(0)!;
        const index = row.number(1)!;
        if (index < 0) report({ kind: "trace", problem: "an index below 0" });
        else if (id === last.id && index !== last.index + 1) {
          report({ kind: "trace", problem: `comes after ${last.index}: steps between them are missing` });
        }
        last = { id, index };
        decodeObject(`trace ${index} of ${id}`, row.text(2)!);
      },
    },
  ];
};

/** What is wrong with a database, up to `limit` things. Throws only what is no answer. */
export function verifyDatabase(db: Database, limit: number): Problem[] {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void (problems.length < limit && problems.push(problem));
  const unlike = new Set<string>();
  const note = (problem: Problem): void => {
    unlike.add(problem.where);
    report(problem);
  };
  attempt(report, "database", () => checkSchema(db, note));
  const sound = tables().filter(({ name }) => !unlike.has(name));
  attempt(report, "database", () => checkStructure(db, sound, limit, report));
  for (const table of sound) attempt(report, table.name, () => checkRows(db, table, report));
  return problems;
}

/** Damage that an adapter found, as a problem. Throws what is no damage. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof ImageCorrupt)) throw error;
  const { part = "base", page = null, offset = null } = error.where ?? {};
  return problemIn("storage", part, error.message, { page, offset });
}

/** A part that cannot be read is a problem, and the next one is looked at. */
function attempt(report: (problem: Problem) => void, where: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    // Whatever SQLite cannot do with the database is told: the schema may ask for what is not there, and a damaged page for
    // more memory than there is.
    if (!(error instanceof SqlFailed)) throw error;
    report(problemIn("sqlite", where, error.message));
  }
}

function isDamage(error: unknown): error is SqlFailed {
  return error instanceof SqlFailed && [CORRUPT, NOT_A_DATABASE].includes(error.resultCode & 0xff);
}

function checkSchema(db: Database, report: (problem: Problem) => void): void {
  for (const table of Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]) {
    const problem = unlikeOurs(db, table);
    if (problem !== null) report(problemIn("schema", table, problem));
  }
  const statement = db.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?");
  for (const sql of INDEXES) {
    const [, , , , , name = ""] = sql.split(" ");
    const found = statement.first([name], (row) => row.text(0, true));
    if (found === sql.replace(" IF NOT EXISTS", "")) continue;
    report(problemIn("schema", name, found === null ? "the index is missing" : "the index is another one"));
  }
  db.discard(statement);
}

/** SQLite's own check. Where it cannot look at tables of other programs, at ours alone. */
function checkStructure(db: Database, ours: readonly Table[], limit: number, report: (problem: Problem) => void): void {
  const run = (what: string | number): void => {
    const statement = db.prepare(`PRAGMA integrity_check(${what})`);
    try {
      statement.each([], (row) => {
        const text = row.text(0, true) ?? "";
        if (text === "ok") return;
        const page = /\bpage (\d+)/i.exec(text)?.[1];
        report(problemIn("sqlite", "database", text, { page: page === undefined ? null : Number(page) }));
      });
    } finally {
      db.discard(statement);
    }
  };
  try {
    run(Math.min(limit, LARGEST_LIMIT));
  } catch (error) {
    // Their collations and modules are not known here.
    if (isDamage(error)) throw error;
    for (const { name } of ours) attempt(report, name, () => run(name));
  }
}

function checkRows(db: Database, table: Table, report: (problem: Problem) => void): void {
  const columns: readonly string[] = COLUMNS[table.name];
  const types = columns.map((column) => `typeof(${column})`);
  const statement = db.prepare(
    `SELECT ${[...columns, ...types].join()}, rowid FROM ${table.name} ${table.order ?? "NOT INDEXED"}`,
  );
  try {
    statement.each([], (row) => {
      for (const { kind, problem } of faultsOf(row, table)) {
        const id = table.id === null ? null : row.text(table.id, true);
        const number = row.number(table.row ?? 2 * columns.length);
        report(problemIn(kind, table.name, problem, { id, row: Number.isSafeInteger(number) ? number : null }));
      }
    });
  } finally {
    db.discard(statement);
  }
}

function faultsOf(row: Row, { name, types, id, check }: Table): Fault[] {
  const columns: readonly string[] = COLUMNS[name];
  const faults: Fault[] = [];
  for (const [i, column] of columns.entries()) {
    const type = row.text(columns.length + i)!;
    if (!types[i]!.split(" ").includes(type)) faults.push({ kind: "row", problem: `${column} is ${type}` });
    else if (type === "integer" && !Number.isSafeInteger(row.number(i))) {
      faults.push({ kind: "row", problem: `${column} is a number that JavaScript cannot hold without losing digits` });
    }
  }
  if (faults.length > 0) return faults;
  try {
    // All of them are read: SQLite does not look whether a text is one.
    const texts = columns.map((_, i) => row.text(i));
    if (id !== null && texts[id] !== null && !isId(texts[id])) {
      faults.push({ kind: "row", problem: `${columns[id]} is no id` });
    }
    check(row, (fault) => faults.push(fault));
  } catch (error) {
    if (error instanceof RecordInvalid) faults.push({ kind: "record", problem: error.message });
    // One text of the row is not UTF-8; the others are as they are.
    else if (isDamage(error)) faults.push({ kind: "row", problem: error.message });
    else throw error;
  }
  return faults;
}
