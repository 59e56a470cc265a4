// Every call that changes the disk fails, is cut short, or is the last one before a kill (L1, L2, L3, L5).
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Execution } from "../../src/records/structs.ts";
import { AsyncSqliteStore, FlushFailed, PerdureError, SqliteStore } from "../node.ts";
import { type Call, sample, systemError, temporaryFolder, withCalls } from "./testing.ts";

const OPTIONS = { checkpointFrames: 24 };
const ROUNDS = 3;
/** What a disk writes whole or not at all. */
const SECTOR_BYTES = 512;

/** What a scenario has been told so far. */
interface Ledger {
  /** Id → the version that was acknowledged last. */
  readonly acknowledged: Map<string, number>;
  /** Id → the version that was being written when everything stopped. */
  readonly attempted: Map<string, number>;
  readonly refused: unknown[];
}

const newLedger = (): Ledger => ({ acknowledged: new Map(), attempted: new Map(), refused: [] });

/** Opens, commits across several checkpoints, closes. Errors are kept, and the store goes on after them. */
async function scenario(
  file: string,
  Store: typeof SqliteStore | typeof AsyncSqliteStore,
  ledger: Ledger,
): Promise<void> {
  let store: SqliteStore | AsyncSqliteStore;
  try {
    store = await open(file, Store);
  } catch (error) {
    ledger.refused.push(error);
    return;
  }
  const executions = ["a", "b", "c"].map((id) => sample(id, "x".repeat(500)));
  for (let round = 0; round < ROUNDS; round++) {
    for (const exe of executions) await attempt(store, exe, ledger);
  }
  await store.close();
}

async function open(
  file: string,
  Store: typeof SqliteStore | typeof AsyncSqliteStore,
): Promise<SqliteStore | AsyncSqliteStore> {
  const { fileAdapter, asyncFileAdapter } = await import("./index.ts");
  return Store === SqliteStore
    ? SqliteStore.create(fileAdapter(file, OPTIONS))
    : AsyncSqliteStore.create(asyncFileAdapter(file, OPTIONS));
}

async function attempt(store: SqliteStore | AsyncSqliteStore, exe: Execution, ledger: Ledger): Promise<void> {
  const { version } = exe;
  ledger.attempted.set(exe.id, version + 1);
  try {
    await store.commit(exe, {
      emits: [{ event: { kind: "Go", data: { version: version + 1 } } }],
      trace: { version: version + 1 },
    });
    ledger.acknowledged.set(exe.id, version + 1);
  } catch (error) {
    ledger.refused.push(error);
    expect(error).toBeInstanceOf(PerdureError);
    // L1: the version is as before, and so is what is read.
    expect(exe.version).toBe(version);
    expect((await store.load(exe.id))?.version ?? 0).toBe(version);
  }
}

/** Opened anew: every acknowledged commit whole, and nothing that was refused. */
async function verify(file: string, { acknowledged, attempted }: Ledger, isAfterKill: boolean): Promise<void> {
  const store = await SqliteStore.create(file);
  const effects = new Map<string, number>();
  for (const id of attempted.keys()) {
    const found = store.load(id)?.version ?? 0;
    const known = acknowledged.get(id) ?? 0;
    if (isAfterKill) expect([known, attempted.get(id)]).toContain(found);
    else expect(found).toBe(known);
    expect(store.readTrace(id).at(-1)?.["version"] ?? 0).toBe(found);
    effects.set(id, found);
  }
  const total = [...effects.values()].reduce((sum, version) => sum + version, 0);
  expect(store.pendingOutbox()).toHaveLength(total);
  const one = store.load("a") ?? sample("a");
  store.save(one);
  store.close();
}

/** The calls that the scenario makes when nothing fails. */
async function countCalls(Store: typeof SqliteStore | typeof AsyncSqliteStore): Promise<Call[]> {
  const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
  const calls: Call[] = [];
  await withCalls(
    (call) => {
      calls.push(call);
    },
    () => scenario(file, Store, newLedger()),
  );
  return calls;
}

describe.each([SqliteStore, AsyncSqliteStore])("$name", (Store) => {
  test("the scenario crosses checkpoints", async () => {
    const calls = await countCalls(Store);
    // Each commit syncs once, and so do the new file and the new log; each checkpoint syncs base and header.
    expect(calls.filter((call) => call === "fdatasyncSync").length).toBeGreaterThanOrEqual(3 * ROUNDS + 2 + 2 * 2);
  });

  test.each(["EIO", "ENOSPC"])(
    "L1 L2 any one call fails with %s: what was refused is gone, the store goes on",
    async (code) => {
      const calls = await countCalls(Store);
      for (let n = 0; n < calls.length; n++) {
        const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
        const ledger = newLedger();
        let count = 0;
        await withCalls(
          () => {
            if (count++ === n) throw systemError(code);
          },
          () => scenario(file, Store, ledger),
        );
        expect(ledger.refused.length, `call ${n} (${calls[n]})`).toBeLessThanOrEqual(1);
        for (const error of ledger.refused) expect(error).toBeInstanceOf(PerdureError);
        await verify(file, ledger, false);
      }
    },
  );

  test("L1 L2 a disk that is full for a while refuses every commit with code no-space, then takes them again", async () => {
    const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
    const ledger = newLedger();
    let commits = 0;
    const store = await open(file, Store);
    const one = sample("a");
    await withCalls(
      (call) => {
        if (call === "writeSync" && commits >= 3 && commits < 6) throw systemError("ENOSPC");
      },
      async () => {
        for (; commits < 9; commits++) await attempt(store, one, ledger);
      },
    );
    expect(ledger.refused).toHaveLength(3);
    for (const error of ledger.refused) {
      expect(error).toBeInstanceOf(FlushFailed);
      expect(error).toMatchObject({ code: "no-space", cause: { code: "ENOSPC" } });
    }
    expect(one.version).toBe(6);
    await store.close();
    await verify(file, ledger, false);
  });

  test("L3 while a refused commit cannot be wiped from the log, nobody else may look at it", async () => {
    const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
    const ledger = newLedger();
    const store = await open(file, Store);
    const one = sample("a");
    await attempt(store, one, ledger);
    let isSick = true;
    await withCalls(
      (call) => {
        if (isSick && call === "fdatasyncSync") throw systemError("EIO");
      },
      async () => {
        await attempt(store, one, ledger);
        expect(ledger.refused).toHaveLength(1);
        const { fileAdapter } = await import("./index.ts");
        const other = SqliteStore.create(fileAdapter(file, { busyTimeoutMs: 20 }));
        await expect(other).rejects.toMatchObject({ code: "store-busy" });
        isSick = false;
        await attempt(store, one, ledger);
      },
    );
    expect(one.version).toBe(2);
    await store.close();
    await verify(file, ledger, false);
  });

  test("L2 writes that the system cuts short are gone on with", async () => {
    const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
    const ledger = newLedger();
    await withCalls(
      (call, bytes) => (call === "writeSync" ? Math.max(1, Math.floor(bytes / 3)) : undefined),
      () => scenario(file, Store, ledger),
    );
    expect(ledger.refused).toEqual([]);
    await verify(file, ledger, false);
  });

  test("L1 L2 L5 killed before any one call, or in the middle of a write: every acknowledged commit is there", async () => {
    const calls = await countCalls(Store);
    const folder = temporaryFolder(onTestFinished, "memory");
    for (let n = 0; n < calls.length; n++) {
      const file = path.join(folder, `${n}`, "a.db");
      const killed = path.join(folder, `${n}-killed`);
      fs.mkdirSync(path.dirname(file));
      const ledger = newLedger();
      let frozen = newLedger();
      let count = 0;
      let isDead = false;
      await withCalls(
        (_, bytes) => {
          if (isDead) return;
          if (count === n + 1 || (count === n && bytes === 0)) {
            isDead = true;
            fs.cpSync(path.dirname(file), killed, { recursive: true });
            frozen = { acknowledged: new Map(ledger.acknowledged), attempted: new Map(ledger.attempted), refused: [] };
          }
          // The write of interest is cut in half; what follows is the kill.
          if (count++ === n && bytes > 0) return Math.floor(bytes / 2 / SECTOR_BYTES) * SECTOR_BYTES;
        },
        () => scenario(file, Store, ledger),
      );
      if (!isDead) continue;
      // The owner of the lock is this process, and alive; the dead one was another.
      for (const name of fs.readdirSync(killed)) if (name.includes("-lock")) fs.rmSync(path.join(killed, name));
      await verify(path.join(killed, "a.db"), frozen, true);
      fs.rmSync(killed, { recursive: true });
      fs.rmSync(path.dirname(file), { recursive: true });
    }
  });
});
