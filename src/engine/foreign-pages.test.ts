// Pages that another writer committed, laid under an open Database: they are seen at the very next read or write, whatever
// SQLite has cached.
import { beforeAll, describe, expect, test } from "vitest";
import type { PageDelta } from "../port.ts";
import { Database } from "./database.ts";
import { type Engine, startEngine } from "./engine.ts";
import { copyOf, filled, integrity, texts, written } from "./testing.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});

describe("L4: pages of another writer", () => {
  /** Two databases on the same pages, and a delta the first makes that leaves page 1 out, as a WAL writer's may. */
  function pair(rows: number): { db: Database; peer: Database; without1: (sql: string) => PageDelta } {
    const db = filled(engine, rows);
    const peer = new Database(engine, copyOf(db.pages));
    const without1 = (sql: string): PageDelta => {
      db.transaction(() => db.exec(sql));
      const delta = written(db);
      db.settle();
      (delta.pages as Map<number, Uint8Array>).delete(1);
      return delta;
    };
    return { db, peer, without1 };
  }

  test("are seen by the very next read, though page 1 is as it was", () => {
    const { peer, without1 } = pair(500);
    const read = peer.prepare("SELECT a FROM t WHERE id = ?");
    for (let i = 1; i <= 20; i++) {
      // In the pager's cache before, each time.
      expect(read.first([300], (row) => row.text(0))).not.toBe(`foreign ${i}`);
      peer.apply(without1(`UPDATE t SET a = 'foreign ${i}' WHERE id IN (1, 300)`));
      expect(read.first([300], (row) => row.text(0))).toBe(`foreign ${i}`);
    }
    expect(texts(peer, "SELECT a FROM t WHERE id = 1")).toEqual(["foreign 20"]);
    expect(integrity(peer)).toBe("ok");
  });

  test("are seen by a write that comes first", () => {
    const { peer, without1 } = pair(500);
    texts(peer, "SELECT a FROM t");
    peer.apply(without1("UPDATE t SET a = 'foreign' WHERE id = 300"));
    peer.transaction(() => peer.exec("UPDATE t SET a = a || ', then ours' WHERE id = 300"));
    expect(texts(peer, "SELECT a FROM t WHERE id = 300")).toEqual(["foreign, then ours"]);
    peer.settle();
    expect(integrity(peer)).toBe("ok");
  });

  test("are seen when they come in after an undo, before any read", () => {
    const { peer, without1 } = pair(500);
    peer.transaction(() => peer.exec("UPDATE t SET a = 'ours' WHERE id = 300"));
    peer.undo();
    peer.apply(without1("UPDATE t SET a = 'foreign' WHERE id = 300"));
    expect(texts(peer, "SELECT a FROM t WHERE id = 300")).toEqual(["foreign"]);
  });

  test("a schema changed by others works with statements of before and of after", () => {
    const { db, peer } = pair(5);
    const read = peer.prepare("SELECT * FROM t WHERE id = 1");
    db.transaction(() =>
      db.exec("ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'new'; CREATE INDEX i ON t (a); CREATE TABLE u (c)"),
    );
    peer.apply(written(db));
    expect(read.first([], (row) => row.text(2))).toBe("new");
    expect(texts(peer, "SELECT count(*) FROM u")).toEqual(["0"]);
    expect(integrity(peer)).toBe("ok");
  });

  test("a whole image that takes the place of ours is seen at once, though its header is the same", () => {
    const db = filled(engine, 5);
    const count = db.prepare("SELECT count(*) FROM t");
    for (const rows of [3, 2000, 4, 1]) {
      // As many transactions and, for a few rows, as many pages: nothing in page 1 tells them apart.
      db.replace(copyOf(filled(engine, rows).pages));
      expect(count.first([], (row) => row.number(0))).toBe(rows);
    }
    expect(integrity(db)).toBe("ok");
  });
});
