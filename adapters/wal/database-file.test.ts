// A database file with its log, out of bytes: the golden databases, and what is refused (L7).
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import type { GoldenExpected } from "../../src/contract/index.ts";
import { Database } from "../../src/engine/database.ts";
import { loadEngine } from "../../src/engine/engine.ts";
import { type ErrorCode, PerdureError } from "../../src/errors.ts";
import { CHUNK_BYTES, type LoadedImage } from "../../src/port.ts";
import { readDatabaseFile } from "./database-file.ts";
import { startLog, writeHeader } from "./wal.ts";
import { patched } from "./testing.ts";

const golden = (name: string): Uint8Array =>
  new Uint8Array(fs.readFileSync(new URL(`../../src/contract/golden/${name}`, import.meta.url)));
const expected = JSON.parse(Buffer.from(golden("expected.json")).toString()) as GoldenExpected;
const CHECKPOINTED = golden("checkpointed.db");
const UNCHECKPOINTED = golden("uncheckpointed.db");
const LOG = golden("uncheckpointed.db-wal");

async function executionsIn(image: LoadedImage): Promise<string[]> {
  const db = new Database(await loadEngine(), image);
  try {
    expect(db.prepare("PRAGMA integrity_check").all([], (row) => row.text(0))).toEqual(["ok"]);
    return db.prepare("SELECT data FROM executions ORDER BY id").all([], (row) => row.text(0)!);
  } finally {
    db.close();
  }
}

describe("a database file out of bytes", () => {
  test.each([
    { name: "checkpointed.db", database: CHECKPOINTED, wal: null },
    { name: "checkpointed.db with an empty log", database: CHECKPOINTED, wal: new Uint8Array(0) },
    {
      name: "checkpointed.db with a log of other pages that holds nothing",
      database: CHECKPOINTED,
      wal: writeHeader(startLog(1024, 0, 1, 2)),
    },
    { name: "rollback-mode.db", database: golden("rollback-mode.db"), wal: null },
    { name: "uncheckpointed.db with its log", database: UNCHECKPOINTED, wal: LOG },
    { name: "the same log, cut in a frame that came later", database: UNCHECKPOINTED, wal: withHalfFrame(LOG) },
  ])("L5 $name is what the original wrote", async ({ database, wal }) => {
    const given = database.slice();
    const image = readDatabaseFile({ database, wal }, "a.db");
    expect(image.pageSize).toBe(4096);
    expect(image.chunks).toHaveLength(Math.ceil((image.pageCount * image.pageSize) / CHUNK_BYTES));
    // In memory the header says rollback journal; what was given is left as it was.
    expect([...image.chunks[0]!.subarray(18, 20)]).toEqual([1, 1]);
    const texts = Object.entries(expected.raw_data).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(await executionsIn(image)).toEqual(texts.map(([, text]) => text));
    expect(database).toEqual(given);
  });

  test.each<{ name: string; code: ErrorCode; says: RegExp; database: Uint8Array; wal?: Uint8Array }>([
    { name: "nothing", code: "image-corrupt", says: /empty/, database: new Uint8Array(0) },
    { name: "text", code: "not-a-database", says: /encrypted/, database: new Uint8Array(5000).fill(104) },
    { name: "a format of the future", code: "newer-format", says: /newer/, database: patched(CHECKPOINTED, 18, 3, 3) },
    { name: "a cut file", code: "image-corrupt", says: /page 11 is/, database: CHECKPOINTED.subarray(0, 40_960) },
    { name: "a header alone", code: "image-corrupt", says: /missing/, database: CHECKPOINTED.subarray(0, 100) },
    {
      name: "something that is no log",
      code: "image-corrupt",
      says: /no log/,
      database: CHECKPOINTED,
      wal: patched(LOG, 24, 1, 2, 3),
    },
    {
      name: "a log with pages of another size",
      code: "image-corrupt",
      says: /another size/,
      database: patched(CHECKPOINTED, 16, 8, 0),
      wal: LOG,
    },
  ])("L7 $name is refused", ({ code, says, database, wal = null }) => {
    let error: unknown;
    try {
      readDatabaseFile({ database, wal }, "a.db");
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PerdureError);
    expect(error).toMatchObject({ code, place: "a.db" });
    expect((error as Error).message).toMatch(says);
  });
});

/** With part of its own last frame behind it. */
function withHalfFrame(log: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([log, log.subarray(log.length - 2000)]));
}
