// Other programs beside a store: what stock SQLite sees while a store commits, and what Python reads from its files.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AsyncSqliteStore, newExecution, SqliteStore } from "perdure";
import { fileAdapter } from "perdure/file";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { auditBooks, BOOKS_SQL, nextCommit } from "./books.js";
import { startChild } from "./child.js";
import { isInstalled, type Row, STOCK } from "./stock.js";

let folder = "";
let file = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perdure-readers-"));
  file = join(folder, "store.db");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const hasPython = isInstalled("python3", ["-c", "import sqlite3"]);
/** Its log is folded often. */
const openSync = () => SqliteStore.create(fileAdapter(file, { checkpointFrames: 300 }), { traceMax: null });
const lane = () => newExecution({ id: "lane", definition_id: "lane" });

/** A stock reader whose connection stays open. */
function openReader(path: string): { query(sql: string): Promise<Row[]>; close(): Promise<unknown> } {
  const child = startChild("sql-server.py", path, { command: ["python3"] });
  return {
    async query(sql) {
      const { rows, error } = JSON.parse(await child.ask(JSON.stringify(sql)));
      if (error !== undefined) throw new Error(`the stock reader: ${error}`);
      return rows;
    },
    close() {
      child.hangUp();
      return child.ended;
    },
  };
}

describe.each(STOCK)("$name while a store is open", (one) => {
  const { stock } = one;
  test.skipIf(!one.isInstalled)("L5 sees each commit as soon as it returned", async () => {
    const store = await openSync();
    const exe = lane();
    for (let version = 1; version <= 6; version++) {
      store.commit(exe, nextCommit(exe, version * 1000));
      const rows = stock.query(file, BOOKS_SQL, { readonly: true });
      expect(auditBooks(rows, new Map([["lane", version]]), 0)).toEqual([]);
    }
    store.close();
  });

  test.skipIf(!one.isInstalled)(
    "L5 L7 opened for writing, it may fold the log and take it away; nothing is lost",
    async () => {
      const store = await AsyncSqliteStore.create(file, { traceMax: null });
      const exe = lane();
      for (let version = 1; version <= 6; version++) {
        await store.commit(exe, nextCommit(exe, version * 1000));
        const rows = stock.query(file, BOOKS_SQL);
        expect(auditBooks(rows, new Map([["lane", version]]), 0)).toEqual([]);
      }
      await store.close();
      expect(auditBooks(stock.query(file, BOOKS_SQL), new Map([["lane", 6]]), 0)).toEqual([]);
    },
  );
});

describe("a stock reader that stays", () => {
  test.skipIf(!hasPython)("L5 sees each commit over the same connection", async () => {
    const store = await openSync();
    const reader = openReader(file);
    const exe = lane();
    for (let version = 1; version <= 40; version++) {
      store.commit(exe, nextCommit(exe, 100_000));
      expect(auditBooks(await reader.query(BOOKS_SQL), new Map([["lane", version]]), 0)).toEqual([]);
    }
    await reader.close();
    store.close();
  });

  // Only Linux tells that somebody reads (README, limits).
  test.skipIf(!hasPython || !existsSync("/proc/locks"))(
    "L5 keeps its snapshot for the whole of a transaction",
    async () => {
      const store = await openSync();
      const reader = openReader(file);
      const exe = lane();
      for (let round = 0; round < 3; round++) {
        store.commit(exe, nextCommit(exe, 100_000));
        const seen = exe.version;
        await reader.query("BEGIN");
        await reader.query("SELECT count(*) FROM executions");
        // Enough for the log to be folded more than once, were nobody reading.
        for (let i = 0; i < 30; i++) store.commit(exe, nextCommit(exe, 100_000));
        const rows = await reader.query(BOOKS_SQL);
        expect(rows.map(({ version }) => version)).toEqual([seen]);
        expect(auditBooks(rows, new Map([["lane", seen]]), 0)).toEqual([]);
        await reader.query("COMMIT");
        expect(auditBooks(await reader.query(BOOKS_SQL), new Map([["lane", exe.version]]), 0)).toEqual([]);
      }
      await reader.close();
      store.close();
    },
  );

  test.skipIf(!hasPython).each([
    { kind: "sync", inFlight: 1 },
    { kind: "async", inFlight: 16 },
  ])(
    "L5 finds every commit whole, in transactions while another process commits ($kind)",
    { timeout: 120_000 },
    async ({ kind, inFlight }) => {
      const committer = startChild("committer.js", {
        file,
        kind,
        durability: "strict",
        inFlight,
        payloadBytes: 10_000,
      });
      await committer.nextLine();
      const reader = openReader(file);
      // Not many more: who reads all the time keeps the log from starting over, and rebuilds an index of all of it each time.
      for (let reads = 0; reads < 100; reads++) {
        await reader.query("BEGIN");
        await reader.query("SELECT count(*) FROM executions");
        const rows = await reader.query(`SELECT * FROM (${BOOKS_SQL}) WHERE id < 'lane-2'`);
        await reader.query("COMMIT");
        expect(auditBooks(rows, new Map(), Infinity), `read ${reads}`).toEqual([]);
      }
      await reader.close();
      committer.kill();
      await committer.ended;
    },
  );
});

describe("Python reads back", () => {
  test.skipIf(!hasPython).each(["while the store is open", "after it was closed"])(
    "L5 every table and every value, %s",
    async (when) => {
      const store = await SqliteStore.create(file);
      const exe = newExecution({
        id: "Über/1",
        definition_id: "order",
        root_path: "Order",
        active_path: "Order.Pay",
        history: { Order: "Order.Pay" },
        context: {
          text: "naïve 🚀 \u2028",
          list: [1, 2.5, -0.125, 1e21, true, null, { 10: 1, b: [] }],
          "": "empty key",
        },
        deferred: [{ id: "later", kind: "Later", created_time: null, received_time: null, data: { x: 1 } }],
        children: {
          c1: { root_path: "A", finished: true, outcome: "ok", result: { n: 0 }, submachine: false, key: "" },
        },
        invoke_seq: { A: 1 },
      });
      Object.assign(exe, { unknown_key: { kept: true } });
      store.commit(exe, {
        emits: [
          { target_id: null, event: { id: "e1", kind: "out", data: { a: [1] } } },
          { target_id: "x", event: { id: "e2", kind: "out" } },
        ],
        processedEventId: "",
        spawns: [{ child_id: "c2", root_path: "B", context: { deep: { er: [[]] } } }],
        timers: [{ op: "schedule", path: "Order.Pay", fire_at: 1767323045.678901 }],
        trace: { from: null, to: "Order.Pay", n: 0.1 },
      });
      const expected = {
        executions: [{ id: exe.id, definition_id: "order", data: store.load(exe.id), version: 1 }],
        outbox: store.pendingOutbox(),
        processed_events: [{ execution_id: exe.id, event_id: "" }],
        timers: store.dueTimers(Number.MAX_VALUE),
        spawns: store.pendingSpawns(),
        trace: store.readTrace(exe.id).map(({ index, ...entry }) => ({ execution_id: exe.id, idx: index, entry })),
      };
      if (when !== "while the store is open") store.close();
      const script = fileURLToPath(new URL("children/read-back.py", import.meta.url));
      const read = JSON.parse(execFileSync("python3", [script, file], { encoding: "utf8" }));
      expect(read.tables).toEqual(expected);
      expect(read.pragmas).toEqual(["ok", "wal", 0]);
      store.close();
    },
  );
});
