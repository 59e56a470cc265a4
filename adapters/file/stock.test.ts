// A stock sqlite3 beside an open store, which merely opens and closes, checkpoints, or writes though it should not.
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { AsyncSqliteStore, SqliteStore } from "../node.ts";
import { type Call, sample, systemError, withCalls } from "./testing.ts";
import { atFirstSync, crashed, expectStored, hasSqlite, place, sqlite, storeWithOne } from "./testing/stored.ts";

describe.skipIf(!hasSqlite)("a stock sqlite3 beside an open store (needs the sqlite3 program)", () => {
  test("L5 opened and closed without -readonly, it moves the log into the file and removes it; the store goes on", async () => {
    const file = place();
    const [a, b] = [await SqliteStore.create(file), await SqliteStore.create(file)];
    const one = sample("one");
    a.save(one);
    expect(sqlite(file, "SELECT version FROM executions")).toBe("1");
    expect(fs.existsSync(`${file}-wal`)).toBe(false);
    a.save(one);
    expect(b.load("one")?.version).toBe(2);
    expect(sqlite(file, "SELECT version FROM executions")).toBe("2");
    b.save(b.load("one")!);
    expect(a.load("one")?.version).toBe(3);
    a.close();
    b.close();
    await expectStored(file, { one: 3 });
  });

  test("L1 L2 what it moves into the file in the middle of a commit, and takes the log away, is that commit", async () => {
    const { file, store, one } = await storeWithOne();
    await atFirstSync(
      () => {
        expect(sqlite(file, "SELECT version FROM executions")).toBe("2");
        expect(fs.existsSync(`${file}-wal`)).toBe(false);
      },
      () => store.commit(one, { trace: { step: 1 } }),
    );
    expect(one.version).toBe(2);
    await expectStored(crashed(file), { one: 2 });
    store.save(one);
    expect(store.readTrace("one")).toHaveLength(1);
    store.close();
    await expectStored(file, { one: 3 });
  });

  test("L1 L7 and when no new log can be made then, it is told that nobody knows, and it counts", async () => {
    const { file, store, one } = await storeWithOne();
    let isTaken = false;
    const failing = (call: Call): void => {
      if (isTaken && (call === "renameSync" || call === "fdatasyncSync")) throw systemError("EIO");
      if (call !== "fdatasyncSync") return;
      isTaken = true;
      sqlite(file, "SELECT version FROM executions");
    };
    const unknown = expect.objectContaining({ name: "FlushFailed", code: "outcome-unknown" });
    await withCalls(failing, () => expect(() => store.save(one)).toThrow(unknown));
    expect(one.version).toBe(1);
    expect(() => store.save(one)).toThrow(expect.objectContaining({ code: "stale-write" }));
    expect(store.load("one")?.version).toBe(2);
    store.save(store.load("one")!);
    store.close();
    await expectStored(file, { one: 3 });
  });

  test("L1 L2 so it is for a group, while the next one runs", async () => {
    const file = place();
    const store = await AsyncSqliteStore.create(file);
    const all = Array.from({ length: 60 }, (_, i) => sample(`${i}`));
    await Promise.all(all.map((one) => store.save(one)));
    let syncs = 0;
    const syncing = (call: Call): void => {
      if (call === "fdatasyncSync" && ++syncs % 2 === 1) sqlite(file, "SELECT version FROM executions");
    };
    await withCalls(syncing, () => Promise.all(all.map((one) => store.commit(one, { trace: { step: 1 } }))));
    expect(syncs).toBeGreaterThan(1);
    await expectStored(crashed(file), Object.fromEntries(all.map(({ id }) => [id, 2])));
    expect(await Promise.all(all.map(({ id }) => store.readTrace(id)))).toEqual(all.map(() => [{ index: 0, step: 1 }]));
    await store.close();
    await expectStored(file, Object.fromEntries(all.map(({ id }) => [id, 2])));
  });

  test("L5 its own truncating checkpoint is followed too", async () => {
    const { file, store, one } = await storeWithOne();
    sqlite(file, "PRAGMA wal_checkpoint(TRUNCATE)");
    store.save(one);
    await expectStored(crashed(file), { one: 2 });
    store.close();
  });

  test("L7 what it wrote while a store was open is taken in, though it broke the rule", async () => {
    const { file, store, one } = await storeWithOne();
    sqlite(file, "INSERT INTO outbox (target_id, event) VALUES ('x', '{\"kind\":\"Go\"}')");
    store.save(one);
    expect(store.pendingOutbox().map(({ target_id }) => target_id)).toEqual(["x"]);
    store.close();
    expect(sqlite(file, "SELECT count(*) FROM outbox")).toBe("1");
    await expectStored(file, { one: 2 });
  });
});
