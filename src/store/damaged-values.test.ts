// Rows without a value that must be there, or with another one than can be: what damage leaves, and tables that another
// program made without NOT NULL.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Database } from "../engine/database.ts";
import { startEngine } from "../engine/engine.ts";
import { emptyImage } from "../engine/testing.ts";
import { INDEXES, SCHEMA } from "../sql.ts";
import { Core } from "./core.ts";

let db: Database;
beforeEach(async () => {
  db = new Database(await startEngine(), emptyImage());
  for (const sql of [...SCHEMA, ...INDEXES]) db.exec(sql.replaceAll(" NOT NULL", ""));
});
afterEach(() => db.close());

test.each<[string, string, (core: Core) => unknown]>([
  ["a timer's path", "INSERT INTO timers VALUES ('a', NULL, 1)", (core) => core.dueTimers(2)],
  ["a timer's Execution", "INSERT INTO timers VALUES (NULL, 'p', 1)", (core) => core.dueTimers(2)],
  ["an event of the outbox", "INSERT INTO outbox VALUES (1, 'a', NULL)", (core) => core.pendingOutbox(null)],
  ["a child's id", "INSERT INTO spawns VALUES (1, 'a', NULL, '', '{}')", (core) => core.pendingSpawns(null)],
  ["a child's context", "INSERT INTO spawns VALUES (1, 'a', 'b', '', NULL)", (core) => core.pendingSpawns(null)],
  ["a step's number", "INSERT INTO trace VALUES ('a', NULL, '{}')", (core) => core.readTrace("a")],
  ["a step", "INSERT INTO trace VALUES ('a', 0, NULL)", (core) => core.readTrace("a")],
])("L7 %s is missing: told as damage, not handed out as null", (_, sql, read) => {
  db.exec(sql);
  const core = new Core(db, 200);
  expect(() => read(core)).toThrow(expect.objectContaining({ code: "sql-failed", resultCode: 11 }));
});

test.each<[string, string, (core: Core) => unknown]>([
  ["a step's number", "INSERT INTO trace VALUES ('a', 1.5, '{}')", (core) => core.readTrace("a")],
  ["a step's number, a text,", "INSERT INTO trace VALUES ('a', 'x', '{}')", (core) => core.readTrace("a")],
  ["a last step's number", "INSERT INTO trace VALUES ('a', 1e300, '{}')", (core) => core.appendTrace("a", "{}")],
  ["an outbox row's", "INSERT INTO outbox VALUES (9007199254740993, 'a', '{}')", (core) => core.pendingOutbox(null)],
  ["a spawn's", "INSERT INTO spawns VALUES (9007199254740993, 'a', 'b', '', '{}')", (core) => core.pendingSpawns(null)],
])("L7 %s is no integer, or one that would lose digits: told as damage, not rounded", (_, sql, read) => {
  db.exec(sql);
  const core = new Core(db, 200);
  expect(() => read(core)).toThrow(expect.objectContaining({ code: "sql-failed", resultCode: 11 }));
});

test("L7 a step whose number would lose digits is not written: nobody could read the trace any more", () => {
  db.exec(`INSERT INTO trace VALUES ('a', ${Number.MAX_SAFE_INTEGER - 1}, '{}')`);
  const core = new Core(db, 200);
  core.appendTrace("a", "{}");
  expect(() => core.appendTrace("a", "{}")).toThrow(expect.objectContaining({ code: "sql-failed", resultCode: 11 }));
  expect(core.readTrace("a").at(-1)?.index).toBe(Number.MAX_SAFE_INTEGER);
});
