// Brings what can be read of a damaged database into a new place, and tells what cannot. Reads pages by hand, not with
// SQLite, which stops at the first one that is malformed. Never writes to where it reads.
import { Database } from "../engine/database.ts";
import { loadEngine } from "../engine/engine.ts";
import type { Value } from "../engine/row.ts";
import { StorageRefused } from "../errors.ts";
import {
  type AsyncAdapter,
  type Pages,
  type PlaceOptions,
  type Problem,
  problemIn,
  type Remains,
  type RowKind,
  type SyncAdapter,
} from "../port.ts";
import { abandon } from "../store/abandon.ts";
import { asyncAdapterFor, type DatabaseBytes, remainsFor } from "../store/locations.ts";
import type { StoreOptions } from "../store/options.ts";
import { createMissing } from "../store/schema.ts";
import { type Finder, findRows } from "./find.ts";
import type { Lost, SalvageReport } from "./report.ts";
import { TABLES } from "./tables.ts";

const PAGE_SIZE = 4096;

/**
 * Brings what can be read of a damaged database into a new place, whole or not at all, and tells what could not be read.
 * `from` is a name as `create` takes it (nothing else may have a file open), or the bytes of a SQLite file with those of
 * its `-wal`. It is never changed. `into` is a name or an adapter; nothing may be there. Tables of other programs stay
 * behind.
 *
 * @throws StorageRefused (`storage-missing`, `storage-exists`, …), FlushFailed, StoreBusy, EngineFailed
 */
export async function salvage(
  from: string | DatabaseBytes | Remains,
  into: string | AsyncAdapter | SyncAdapter,
  options: StoreOptions & PlaceOptions = {},
): Promise<SalvageReport> {
  const adapter = asyncAdapterFor(into, options);
  let brought: Awaited<ReturnType<typeof bring>>;
  try {
    brought = await bring(from, adapter, options);
  } catch (error) {
    await abandon(adapter);
    throw error;
  }
  await adapter.close(brought.pages);
  return brought.report;
}

async function bring(
  from: string | DatabaseBytes | Remains,
  adapter: AsyncAdapter | SyncAdapter,
  options: StoreOptions,
): Promise<{ readonly report: SalvageReport; readonly pages: Pages }> {
  const remains = await remainsFor(from);
  const { position, ...loaded } = await adapter.load();
  if (loaded.pageCount > 0) {
    throw new StorageRefused("storage-exists", adapter.place, "something is there already; salvage into a new place");
  }
  const db = new Database(await loadEngine(options), { ...loaded, pageSize: PAGE_SIZE });
  try {
    const report = fill(db, remains);
    const release = await adapter.lock();
    try {
      const delta = db.delta();
      if (delta !== null) await adapter.append(delta, position);
      db.settle();
      await adapter.checkpoint(db.pages);
    } finally {
      release();
    }
    return { report, pages: db.pages };
  } finally {
    db.close();
  }
}

/** All of it in one transaction: half a salvage would look like a whole one. */
function fill(db: Database, remains: Remains): SalvageReport {
  const lost: Lost[] = [];
  const problems: Problem[] = [...remains.problems];
  let otherTables: string[] = [];
  db.transaction(() => {
    createMissing(db);
    const sequences = new Map<string, Value>();
    const inserts = new Map(TABLES.map(({ table, insert }) => [table, db.prepare(insert)]));
    const keyed = TABLES.filter(({ lookup }) => lookup !== "");
    const lookups = new Map(keyed.map(({ table, lookup }) => [table, db.prepare(lookup)]));
    const finder: Finder = {
      row({ table, values }) {
        inserts.get(table)!.run(values);
        return db.changes() > 0;
      },
      sequence: (table, last) => void sequences.set(table, last),
      lost: (one) => void lost.push(one),
      doubtful(isTaken) {
        const problem = "the list of free pages is damaged";
        const more = isTaken ? ": rows that were deleted may have come back" : "";
        problems.push(problemIn("storage", "base", problem + more));
      },
      has: (table, key) => lookups.get(table)?.first(key, () => true) ?? true,
    };
    otherTables = findRows(remains, finder);
    for (const [table, last] of sequences) raiseSequence(db, table, last);
    for (const statement of [...inserts.values(), ...lookups.values()]) db.discard(statement);
  });
  const count = (table: RowKind): number => {
    const statement = db.prepare(`SELECT count(*) FROM ${table}`);
    const rows = statement.first([], (row) => row.number(0)) ?? 0;
    db.discard(statement);
    return rows;
  };
  const rows = Object.fromEntries(TABLES.map(({ table }) => [table, count(table)]));
  return { rows: rows as SalvageReport["rows"], lost, problems, otherTables };
}

/** A number once given is never given again, though its row is long gone. */
function raiseSequence(db: Database, table: string, last: Value): void {
  for (const sql of [
    "INSERT INTO sqlite_sequence (seq, name) SELECT 0, ?2 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?2)",
    "UPDATE sqlite_sequence SET seq = max(seq, CAST(?1 AS INTEGER)) WHERE name = ?2",
  ]) {
    const statement = db.prepare(sql);
    statement.run([last, table]);
    db.discard(statement);
  }
}
