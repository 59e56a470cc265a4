// What is found and cannot be a database of ours: a typed error, and not a byte changed (L7).
import { describe, expect, test } from "vitest";
import { type ErrorCode, PerdureError, SqliteStore } from "../browser.ts";
import { FrameWriter, startLog, writeHeader } from "../wal/wal.ts";
import { openOpfs } from "./index.ts";
import { FakeOpfs } from "./testing/fake-opfs.ts";
import { contents, golden, openStore, refusalOf } from "./testing/stores.ts";
import { patched } from "../wal/testing.ts";

const LOG = golden("uncheckpointed.db-wal");

interface Hostile {
  readonly name: string;
  readonly code: ErrorCode;
  readonly says: RegExp;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

const HOSTILE: readonly Hostile[] = [
  {
    name: "text",
    code: "not-a-database",
    says: /encrypted/,
    files: { "a.db": new TextEncoder().encode("hello ".repeat(1000)) },
  },
  {
    name: "an empty file with a log that needs it",
    code: "image-corrupt",
    says: /empty/,
    files: { "a.db": new Uint8Array(0), "a.db-wal": partOfLog() },
  },
  {
    name: "an empty file with something else in place of its log",
    code: "image-corrupt",
    says: /no log/,
    files: { "a.db": new Uint8Array(0), "a.db-wal": new Uint8Array(100).fill(7) },
  },
  { name: "a log without its database", code: "image-corrupt", says: /is gone/, files: { "a.db-wal": LOG } },
  {
    name: "something else in place of the log",
    code: "image-corrupt",
    says: /no log/,
    files: { "a.db": golden("checkpointed.db"), "a.db-wal": patched(LOG, 24, 1, 2, 3) },
  },
  {
    name: "a file cut between pages",
    code: "image-corrupt",
    says: /page 11/,
    files: { "a.db": golden("checkpointed.db").subarray(0, 40_960) },
  },
  {
    name: "a format of the future",
    code: "newer-format",
    says: /newer/,
    files: { "a.db": patched(golden("checkpointed.db"), 18, 3, 3) },
  },
  {
    name: "an unfinished transaction of another program",
    code: "hot-journal",
    says: /roll back/,
    files: { "a.db": golden("rollback-mode.db"), "a.db-journal": Uint8Array.of(0xd9, 0xd5, 0x05, 0xf9) },
  },
];

/** A log that holds page 2 alone. */
function partOfLog(): Uint8Array {
  const start = startLog(4096, 0, 1, 2);
  const delta = { pageSize: 4096, pageCount: 2, pages: new Map([[2, new Uint8Array(4096)]]) };
  return new Uint8Array(Buffer.concat([writeHeader(start), new FrameWriter().write(delta, start).bytes]));
}

describe("L7 refused, and left as it is", () => {
  test.each(HOSTILE)("$name", async ({ code, says, files }) => {
    const fake = new FakeOpfs();
    for (const [name, bytes] of Object.entries(files)) fake.put(name, bytes);
    const before = contents(fake);
    const error = await refusalOf(openStore(fake));
    expect(error).toBeInstanceOf(PerdureError);
    expect(error).toMatchObject({ code, place: "a.db" });
    expect((error as Error).message).toMatch(says);
    expect(contents(fake)).toEqual(before);
    expect(fake.locked).toEqual([]);
  });

  test("nothing, when something must exist", async () => {
    const fake = new FakeOpfs();
    await expect(openStore(fake, { mustExist: true })).rejects.toMatchObject({ code: "storage-missing" });
    expect(fake.files()).toEqual({});
  });

  test("a database with other tables, closed again without a log beside it", async () => {
    const fake = new FakeOpfs();
    fake.put("a.db", patched(golden("checkpointed.db"), 60, 0, 0, 0, 9));
    const before = contents(fake);
    const adapter = await openOpfs("a.db", { directory: fake.directory });
    await expect(SqliteStore.create(adapter)).rejects.toMatchObject({ code: "newer-format" });
    await adapter.closed;
    expect(contents(fake)).toEqual(before);
  });
});
