// Statements live as long as their database, and values come back as they went.
import { beforeAll, describe, expect, test } from "vitest";
import { SqlFailed } from "../errors.ts";
import { type Engine, startEngine } from "./engine.ts";
import { copyOf, filled, texts } from "./testing.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});

describe("statements and values", () => {
  test("a statement outlives conflicts, undo, foreign pages, a new schema and growing memory", () => {
    const db = filled(engine, 10);
    const read = db.prepare("SELECT a FROM t WHERE id = ?");
    const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
    const value = (id: number): string | null => read.first([id], (row) => row.text(0));
    expect(() => insert.run([1, "again"])).toThrow(/UNIQUE/);
    db.transaction(() => insert.run([11, "undone"]));
    db.undo();
    expect(value(11)).toBeNull();
    db.replace(copyOf(db.pages));
    db.transaction(() => insert.run([11, "y".repeat(20_000_000)]));
    db.settle();
    db.transaction(() => db.exec("CREATE INDEX i ON t (a) WHERE id < 5"));
    db.settle();
    db.transaction(() => insert.run([12, "last"]));
    expect([value(11)?.length, value(12)]).toEqual([20_000_000, "last"]);
    db.close();
  });

  test("L7: texts come back as they went: empty, U+0000, byte order mark, astral, ten megabytes", () => {
    const db = filled(engine, 0);
    const insert = db.prepare("INSERT INTO t (a) VALUES (?)");
    const long = "aß€😀".repeat(1_000_000);
    const values = [
      "",
      "a\0b",
      "\0",
      "\uFEFFmark",
      "😀 astral",
      "e\u0301",
      "x".repeat(48),
      "é".repeat(48),
      "z".repeat(30_000),
      long,
    ];
    db.transaction(() => {
      for (const value of values) insert.run([value]);
      insert.run([null]);
    });
    const back = texts(db, "SELECT a FROM t ORDER BY id");
    expect(back.length).toBe(values.length + 1);
    for (const [i, value] of values.entries()) expect(back[i] === value, `value ${i}`).toBe(true);
    expect(back.at(-1)).toBeNull();
    db.close();
  });

  test("L7: bytes that are not UTF-8 are an error, or marked where asked for", () => {
    const db = filled(engine, 0);
    db.exec("INSERT INTO t (a) VALUES (CAST(x'61ff62' AS TEXT))");
    expect(() => texts(db, "SELECT a FROM t")).toThrow(SqlFailed);
    expect(db.prepare("SELECT a FROM t").first([], (row) => row.text(0, true))).toBe("a\uFFFDb");
    db.close();
  });

  test("numbers keep their value, and an integer beyond 2^53 can be told", () => {
    const db = filled(engine, 0);
    db.exec("CREATE TABLE n (i INTEGER, r REAL)");
    const insert = db.prepare("INSERT INTO n VALUES (?, ?)");
    const values = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53 - 1, -(2 ** 53) + 1];
    for (const value of values) insert.run([value, value / 4]);
    const read = db.prepare("SELECT i, r FROM n");
    expect(read.all([], (row) => row.number(0))).toEqual(values);
    expect(read.all([], (row) => row.number(1))).toEqual(values.map((value) => value / 4));
    expect(texts(db, "SELECT typeof(i) || typeof(r) FROM n")).toEqual(values.map(() => "integerreal"));
    db.exec("DELETE FROM n; INSERT INTO n VALUES (9007199254740993, NULL)");
    expect(Number.isSafeInteger(read.first([], (row) => row.number(0)))).toBe(false);
    expect(read.first([], (row) => row.number(1))).toBeNull();
    db.close();
  });

  test("what is not bound is NULL, though it was bound before", () => {
    const db = filled(engine, 0);
    const insert = db.prepare("INSERT INTO t (a) VALUES (?)");
    insert.run(["bound"]);
    insert.run([]);
    expect(texts(db, "SELECT a FROM t ORDER BY id")).toEqual(["bound", null]);
    db.close();
  });

  test("a reader that throws leaves the statement ready for the next use", () => {
    const db = filled(engine, 3);
    const read = db.prepare("SELECT a FROM t");
    const fail = (): never => {
      throw new Error("not today");
    };
    expect(() => read.all([], fail)).toThrow("not today");
    expect(read.all([], (row) => row.text(0)).length).toBe(3);
    expect(db.transaction(() => read.all([], (row) => row.text(0), 2)).length).toBe(2);
    db.close();
  });
});
