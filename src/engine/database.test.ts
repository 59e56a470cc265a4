// What the store takes for granted of a Database: pages leave SQLite whole and only at COMMIT, and what was undone is seen
// at the very next read. Statements and values are in statements.test.ts, pages of others in foreign-pages.test.ts.
import { beforeAll, describe, expect, test } from "vitest";
import { SqlFailed } from "../errors.ts";
import type { PageDelta } from "../port.ts";
import { Database } from "./database.ts";
import { type Engine, startEngine } from "./engine.ts";
import { copyOf, emptyImage, filled, integrity, startWatchedEngine, texts, written } from "./testing.ts";

const PAGE_SIZES = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536];

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});

describe("page writes", () => {
  test("L6: thousands of commits write whole aligned pages, at COMMIT only, and open no journal", async () => {
    const watched = await startWatchedEngine();
    const db = new Database(watched, emptyImage());
    db.exec("CREATE TABLE t (id TEXT PRIMARY KEY, data TEXT); CREATE TABLE log (seq INTEGER PRIMARY KEY, entry TEXT)");
    db.settle();
    const put = db.prepare("INSERT INTO t VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data");
    const log = db.prepare("INSERT INTO log (entry) VALUES (?)");
    const trim = db.prepare("DELETE FROM log WHERE seq < (SELECT MAX(seq) FROM log) - 50");
    const isWrite = (args: readonly unknown[]): boolean => args.length === 4 && typeof args[3] === "bigint";
    const writer = watched.calls.findLast(({ args }) => isWrite(args))!.pointer;
    const writes = (): readonly (readonly (number | bigint)[])[] =>
      watched.calls.filter(({ pointer }) => pointer === writer).map(({ args }) => args);
    for (let i = 0; i < 4000; i++) {
      watched.calls.length = 0;
      db.transaction(() => {
        put.run([`execution-${(i * 7919) % 300}`, `${i}`.repeat(200)]);
        log.run([`entry ${i}`]);
        trim.run([]);
        expect(writes()).toEqual([]);
      });
      const pages = db.delta()!.pages;
      for (const [, , bytes, offset] of writes()) {
        expect(bytes).toBe(4096);
        expect(Number(offset) % 4096).toBe(0);
        expect(pages.has(Number(offset) / 4096 + 1)).toBe(true);
      }
      expect(writes().length).toBe(pages.size);
      // An xOpen would be the journal's.
      expect(watched.calls.filter(({ args }) => args.length === 5)).toEqual([]);
      db.settle();
    }
    expect(integrity(db)).toBe("ok");
  });

  test("L6: a transaction larger than the page cache does not spill before COMMIT", () => {
    const db = filled(engine, 0);
    const insert = db.prepare("INSERT INTO t (a) VALUES (?)");
    db.transaction(() => {
      for (let i = 0; i < 200; i++) insert.run(["x".repeat(100_000)]);
      expect(db.delta()).toBeNull();
    });
    expect(db.delta()!.pages.size).toBeGreaterThan(4500);
    db.close();
  });

  test("a transaction that only reads has nothing to flush", () => {
    const db = filled(engine, 3);
    expect(db.transaction(() => texts(db, "SELECT a FROM t").length)).toBe(3);
    expect(db.delta()).toBeNull();
    db.close();
  });

  test.each(PAGE_SIZES)("pages of %i bytes: written, reopened, changed by others, undone", (pageSize) => {
    const db = filled(engine, 300, { pageSize });
    const [peer, same] = [new Database(engine, copyOf(db.pages)), () => texts(peer, "SELECT a FROM t WHERE id = 7")[0]];
    expect(db.pages.pageSize).toBe(pageSize);
    expect(texts(peer, "SELECT count(*) FROM t")).toEqual(["300"]);
    db.transaction(() => db.exec("UPDATE t SET a = 'new' WHERE id = 7"));
    expect(same()).not.toBe("new");
    peer.apply(written(db));
    expect(same()).toBe("new");
    db.undo();
    expect(texts(db, "SELECT a FROM t WHERE id = 7")).not.toEqual(["new"]);
    expect(integrity(db) + integrity(peer)).toBe("okok");
    db.close();
    peer.close();
  });
});

describe("L1: undo", () => {
  test("the very next read sees the state before, rows and schema", () => {
    const db = filled(engine, 50);
    const read = db.prepare("SELECT a FROM t WHERE id = ?");
    const first = (): string | null => read.first([1], (row) => row.text(0));
    const before = first();
    db.transaction(() => db.exec("UPDATE t SET a = 'undone'; CREATE TABLE u (b)"));
    expect(first()).toBe("undone");
    db.undo();
    expect(first()).toBe(before);
    expect(() => db.prepare("SELECT b FROM u")).toThrow(SqlFailed);
    db.transaction(() => db.exec("UPDATE t SET a = 'kept' WHERE id = 1"));
    db.settle();
    expect(first()).toBe("kept");
    expect(integrity(db)).toBe("ok");
    db.close();
  });

  test("a write right after it stands on the state before", () => {
    const db = filled(engine, 50);
    db.transaction(() => db.exec("UPDATE t SET a = a || '!'"));
    db.undo();
    db.transaction(() => db.exec("UPDATE t SET a = a || '?' WHERE id = 1"));
    expect(texts(db, "SELECT a FROM t WHERE id < 3")).toEqual(["1".padEnd(100, ".") + "?", "2".padEnd(100, ".")]);
    db.close();
  });

  test("auto_vacuum: a database that shrank, and is undone, has its pages back", () => {
    const db = filled(engine, 2000, { pragma: "PRAGMA auto_vacuum=FULL" });
    const before = db.pages.pageCount;
    db.transaction(() => db.exec("DELETE FROM t WHERE id > 10"));
    expect(db.delta()!.pageCount).toBeLessThan(before / 10);
    db.undo();
    expect(db.pages.pageCount).toBe(before);
    expect(texts(db, "SELECT count(*) FROM t")).toEqual(["2000"]);
    expect(integrity(db)).toBe("ok");
    db.transaction(() => db.exec("DELETE FROM t WHERE id > 10"));
    const peer = new Database(engine, copyOf(filled(engine, 2000, { pragma: "PRAGMA auto_vacuum=FULL" }).pages));
    peer.apply(written(db));
    db.settle();
    expect(peer.pages.pageCount).toBe(db.pages.pageCount);
    expect(texts(peer, "SELECT count(*) FROM t")).toEqual(["10"]);
    expect(integrity(peer)).toBe("ok");
    db.close();
    peer.close();
  });

  test("a failure in the middle leaves no transaction open and nothing changed", () => {
    const db = filled(engine, 50);
    const insert = db.prepare("INSERT INTO t (id, a) VALUES (?, ?)");
    const boom = new Error("boom");
    const failures: [string, () => void][] = [
      [
        "thrown by us",
        () => {
          throw boom;
        },
      ],
      ["a constraint", () => insert.run([1, "again"])],
      [
        "no room",
        () => {
          for (;;) insert.run([null, "x".repeat(50_000)]);
        },
      ],
    ];
    db.exec("PRAGMA max_page_count=100");
    for (const [, fail] of failures) {
      const work = (): void => {
        insert.run([1000, "half"]);
        fail();
      };
      expect(() => db.transaction(work)).toThrow(/boom|UNIQUE|full/);
      expect(db.delta()).toBeNull();
      // BEGIN would fail inside a transaction.
      expect(db.transaction(() => texts(db, "SELECT count(*) FROM t"))).toEqual(["50"]);
    }
    expect(integrity(db)).toBe("ok");
    db.close();
  });
});

describe("L1: without a journal", () => {
  /** Writes many rows and fails at the last one, which is taken. */
  const HALF = "INSERT INTO t (id, a) SELECT id + 1000, 'half' FROM t UNION ALL SELECT 1, 'taken'";

  test("a write that fails half-way takes the transaction back, though somebody caught its error", () => {
    const db = filled(engine, 200);
    const half = db.prepare(HALF);
    const insert = db.prepare("INSERT INTO t (id, a) VALUES (?, ?)");
    for (const fail of [() => half.run([]), () => db.exec(HALF)]) {
      const work = (): void => {
        insert.run([5000, "before"]);
        expect(fail).toThrow(/UNIQUE/);
        insert.run([5001, "after"]);
      };
      expect(() => db.transaction(work)).toThrow(/UNIQUE/);
      expect(db.delta()).toBeNull();
      expect(texts(db, "SELECT count(*) FROM t")).toEqual(["200"]);
    }
    // What failed is no matter of the next transaction.
    db.transaction(() => insert.run([5000, "kept"]));
    expect(texts(db, "SELECT count(*) FROM t")).toEqual(["201"]);
    expect(integrity(db)).toBe("ok");
    db.close();
  });

  test("a read that fails takes nothing back", () => {
    const db = filled(engine, 5);
    const read = db.prepare("SELECT json_extract(a, '$') FROM t");
    db.transaction(() => {
      db.exec("UPDATE t SET a = 'kept' WHERE id = 1");
      expect(() => read.all([], (row) => row.text(0))).toThrow(/JSON/);
    });
    expect(texts(db, "SELECT a FROM t WHERE id = 1")).toEqual(["kept"]);
    db.close();
  });

  test("a transaction that fails after its statements changed much is taken back from SQLite's cache too", () => {
    const db = filled(engine, 500);
    const before = texts(db, "SELECT a FROM t");
    for (const sql of ["UPDATE t SET a = a || '!'", "DELETE FROM t", "CREATE TABLE u (b); DROP TABLE t"]) {
      const work = (): void => {
        db.exec(sql);
        throw new Error("boom");
      };
      expect(() => db.transaction(work)).toThrow("boom");
      expect(texts(db, "SELECT a FROM t")).toEqual(before);
      db.transaction(() => db.exec("UPDATE t SET a = a WHERE id = 7"));
      expect(integrity(db)).toBe("ok");
    }
    expect(texts(db, "SELECT a FROM t")).toEqual(before);
    db.close();
  });
});

describe("L3: transactions during a flush", () => {
  /** A database whose row 1 is being flushed as "flying" and was written as "next" since. */
  function inFlight(): { db: Database; first: () => string | null; delta: PageDelta } {
    const db = filled(engine, 50);
    db.transaction(() => db.exec("UPDATE t SET a = 'flying' WHERE id = 1"));
    const delta = db.delta()!;
    db.beginFlush();
    db.transaction(() => db.exec("UPDATE t SET a = 'next' WHERE id = 1; INSERT INTO t SELECT id + 1000, a FROM t"));
    return { db, first: () => texts(db, "SELECT a FROM t WHERE id = 1")[0]!, delta };
  }
  const stored = (db: Database): (string | null)[] => {
    const peer = new Database(engine, copyOf(db.pages));
    expect(integrity(peer)).toBe("ok");
    const rows = texts(peer, "SELECT a FROM t WHERE id = 1 UNION ALL SELECT count(*) FROM t");
    peer.close();
    return rows;
  };

  test("what is being flushed stays as it was, whatever is written meanwhile", () => {
    const { db, first, delta } = inFlight();
    const peer = filled(engine, 50);
    peer.apply(delta);
    expect(texts(peer, "SELECT a FROM t WHERE id = 1")).toEqual(["flying"]);
    expect(first()).toBe("next");
    db.settle();
    peer.apply(written(db));
    expect(texts(peer, "SELECT a FROM t WHERE id = 1 UNION ALL SELECT count(*) FROM t")).toEqual(["next", "100"]);
    expect(integrity(peer)).toBe("ok");
  });

  test("the pages are those of the last settled flush", () => {
    const { db } = inFlight();
    const padded = "1".padEnd(100, ".");
    expect(stored(db)).toEqual([padded, "50"]);
    db.settle();
    expect(stored(db)).toEqual(["flying", "50"]);
    db.settle();
    expect(stored(db)).toEqual(["next", "100"]);
  });

  test("L1: a transaction that fails during a flush takes back itself alone", () => {
    const { db, first } = inFlight();
    db.settle();
    db.beginFlush();
    const fail = (): void => {
      db.exec("UPDATE t SET a = 'failed'; INSERT INTO t VALUES (1, 'again')");
    };
    expect(() => db.transaction(fail)).toThrow(/UNIQUE/);
    expect(first()).toBe("next");
    expect(db.delta()).toBeNull();
    db.settle();
    expect(stored(db)).toEqual(["next", "100"]);
  });

  test("L1: a flush that fails takes back what was built on it too", () => {
    const { db, first } = inFlight();
    db.undo();
    expect(first()).toBe("1".padEnd(100, "."));
    expect(db.delta()).toBeNull();
    expect(integrity(db)).toBe("ok");
    expect(stored(db)).toEqual(["1".padEnd(100, "."), "50"]);
  });
});
