// The look behind our end of the log, which protects where there was no room for a claim (L4).
import { expect, test } from "vitest";
import { Log } from "../wal/log.ts";
import { startLog, writeHeader } from "../wal/wal.ts";
import { fileOver } from "./handle-file.ts";
import { Tail } from "./tail.ts";
import { FakeOpfs } from "./testing/fake-opfs.ts";

const PAGE_BYTES = 512;

async function openLog() {
  const fake = new FakeOpfs();
  const directoryFile = await fake.directory.getFileHandle("a.db-wal", { create: true });
  const file = fileOver(await directoryFile.createSyncAccessHandle!());
  const start = startLog(PAGE_BYTES, 1, 2, 3);
  file.write(writeHeader(start), 0);
  const log = new Log(file, start, () => true, false);
  const tail = new Tail(file);
  tail.note(start);
  return { file, log, tail };
}

test("L4 frames of another worker behind our end are seen", async () => {
  const { file, log, tail } = await openLog();
  expect(tail.isOurs(log)).toBe(true);
  new Log(file, log.position, () => true, false).write({
    ...{ pageSize: PAGE_BYTES, pageCount: 1, pages: new Map([[1, new Uint8Array(PAGE_BYTES)]]) },
  });
  expect(tail.isOurs(log)).toBe(false);
});

test("L4 a log that another worker started over is seen", async () => {
  const { file, log, tail } = await openLog();
  file.write(writeHeader(log.successor()), 0);
  expect(tail.isOurs(log)).toBe(false);
});
