// The index of a trace's next step, which the core remembers for some Executions and asks the database for otherwise.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Database } from "../engine/database.ts";
import { startEngine } from "../engine/engine.ts";
import { emptyImage } from "../engine/testing.ts";
import { INDEXES, SCHEMA } from "../sql.ts";
import { Core } from "./core.ts";

let db: Database;
beforeEach(async () => {
  db = new Database(await startEngine(), emptyImage());
  for (const sql of [...SCHEMA, ...INDEXES]) db.exec(sql);
  db.settle();
});
afterEach(() => db.close());

test("L1 steps follow each other, remembered or not", () => {
  const core = new Core(db, 0);
  // More than are remembered, newer and older ones together.
  const ids = Array.from({ length: 25_000 }, (_, i) => `${i}`);
  db.transaction(() => {
    for (const id of [...ids, ...ids.toReversed(), ...ids]) core.appendTrace(id, "{}");
  });
  for (const id of ["0", "4999", "5000", "14999", "15000", "24999"]) {
    expect(
      core.readTrace(id).map(({ index }) => index),
      id,
    ).toEqual([0, 1, 2]);
  }
  expect(db.prepare("SELECT count(*) FROM trace WHERE idx < 3").first([], (row) => row.number(0))).toBe(75_000);
});

test("L1 what was undone, or written by others, is forgotten, however long ago it was remembered", () => {
  const core = new Core(db, 0);
  const ids = Array.from({ length: 11_000 }, (_, i) => `${i}`);
  expect(() =>
    db.transaction(() => {
      for (const id of ids) core.appendTrace(id, "{}");
      throw new Error("undone");
    }),
  ).toThrow("undone");
  core.forget();
  for (const id of ["0", "10999"]) {
    core.appendTrace(id, "{}");
    expect(core.readTrace(id).map(({ index }) => index)).toEqual([0]);
  }
});
