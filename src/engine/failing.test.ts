// L1 without a journal: random transactions that fail anywhere, half-way through a statement or at their end, for want of
// room or by a constraint, leave rows and schema exactly as they were; so does the undo of one that succeeded.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Database } from "./database.ts";
import { startEngine } from "./engine.ts";
import { emptyImage, integrity, texts } from "./testing.ts";

const statement = fc
  .record({ kind: fc.nat(9), n: fc.nat(200), rows: fc.integer({ min: 1, max: 30 }), length: fc.nat(300) })
  .map(({ kind, n, rows, length }) => {
    const values = JSON.stringify(Array.from({ length: rows }, (_, i) => i));
    return [
      // b may not be 13: the more rows, the later they fail.
      `INSERT INTO t (a, b) SELECT '${n}-' || value || printf('%.*c', ${length}, 'y'), value FROM json_each('${values}')`,
      `UPDATE t SET b = b + ${n % 3} WHERE id % ${1 + (n % 5)} = 0`,
      `DELETE FROM t WHERE id > ${n}`,
      `UPDATE OR IGNORE t SET a = 'same' WHERE id < ${n}`,
      `INSERT OR REPLACE INTO t VALUES (${n}, '${n}-0', ${rows})`,
      `CREATE TABLE u${n} (q); INSERT INTO u${n} VALUES (1)`,
      `CREATE UNIQUE INDEX w${n} ON t (b)`,
      "UPDATE t SET id = id + 1",
      `DROP TABLE IF EXISTS u${n}`,
      `SELECT json('not ${n}')`,
    ][kind]!;
  });
const transaction = fc.record({
  statements: fc.array(statement, { minLength: 1, maxLength: 4 }),
  /** Pages that it may add; null for as many as it likes. */
  room: fc.option(fc.nat(2), { freq: 8 }),
  end: fc.constantFrom("settle", "settle", "undo", "throw"),
});

test("L1: whatever fails, and wherever, rows and schema are as before", async () => {
  const engine = await startEngine();
  const seen = { failed: 0, undone: 0, kept: 0 };
  const run = (transactions: readonly (typeof transaction extends fc.Arbitrary<infer T> ? T : never)[]): void => {
    const db = new Database(engine, emptyImage(512));
    db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INT CHECK (b <> 13)); CREATE INDEX i ON t (b)");
    db.settle();
    const state = (): unknown => [
      texts(db, "SELECT id || ':' || a || ':' || b FROM t ORDER BY id"),
      texts(db, "SELECT sql FROM sqlite_schema ORDER BY name"),
    ];
    for (const { statements, room, end } of transactions) {
      const before = state();
      if (room !== null) db.exec(`PRAGMA max_page_count=${db.pages.pageCount + room}`);
      let isBack = end === "undo";
      try {
        db.transaction(() => {
          for (const sql of statements) db.exec(sql);
          if (end === "throw") throw new Error("ours");
        });
        if (isBack) db.undo();
        else db.settle();
        seen[isBack ? "undone" : "kept"]++;
      } catch {
        isBack = true;
        seen.failed++;
      }
      db.exec("PRAGMA max_page_count=1000000");
      if (isBack) expect(state()).toEqual(before);
    }
    expect(integrity(db)).toBe("ok");
    db.close();
  };
  fc.assert(fc.property(fc.array(transaction, { minLength: 20, maxLength: 60 }), run), { numRuns: 40 });
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
});
