// What `verify` finds in files that were changed under an open store: by whom does not matter (L7).
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AsyncSqliteStore, SqliteStore } from "../node.ts";
import { frameBytes, WAL_HEADER_BYTES } from "../wal/wal.ts";
import { contents, sample, temporaryFolder } from "./testing.ts";

const PAGE = 4096;

/** Overwrites some bytes of a file in place. */
function scratch(file: string, at: number, bytes = 1): void {
  const fd = fs.openSync(file, "r+");
  const found = Buffer.alloc(bytes);
  fs.readSync(fd, found, 0, bytes, at);
  fs.writeSync(
    fd,
    found.map((byte) => byte ^ 0x5a),
    0,
    bytes,
    at,
  );
  fs.closeSync(fd);
}

describe.each([SqliteStore, AsyncSqliteStore])("$name", (Store) => {
  /** A store with most of its pages in the file, and some in the log. */
  async function opened() {
    const file = path.join(temporaryFolder(onTestFinished), "a.db");
    const first = await Store.create(file);
    await first.save(sample("old", "secret-4711".repeat(5000)));
    await first.close();
    const store = await Store.create(file);
    onTestFinished(async () => store.close());
    await store.save(sample("new", "secret-4711"));
    return { file, store };
  }

  test("L7 files that are whole have no problems, and are left alone", async () => {
    const { file, store } = await opened();
    const before = contents(path.dirname(file));
    expect(await store.verify()).toEqual([]);
    expect(contents(path.dirname(file))).toEqual(before);
  });

  test("L7 a page of the file that is not what is in memory is told with its number and offset", async () => {
    const { file, store } = await opened();
    const last = fs.statSync(file).size / PAGE;
    scratch(file, last * PAGE - 100);
    const problem = `page ${last} is not what is in memory`;
    const nothing = { id: null, row: null };
    expect(await store.verify()).toEqual([
      { kind: "storage", where: "base", page: last, offset: (last - 1) * PAGE, problem, ...nothing },
    ]);
  });

  test("L7 a frame of the log that fails its checksum is told with its number and offset", async () => {
    const { file, store } = await opened();
    scratch(`${file}-wal`, WAL_HEADER_BYTES + frameBytes(PAGE) + 200);
    const [problem] = await store.verify();
    expect(problem).toMatchObject({ kind: "storage", where: "log", offset: WAL_HEADER_BYTES });
    expect(problem!.problem).toMatch(/^frame 1 of \d fails its checksum/);
  });

  test("L7 a file cut short, and a header that is none", async () => {
    const { file, store } = await opened();
    fs.truncateSync(file, 3 * PAGE + 7);
    const pages = (await store.verify()).map(({ page }) => page);
    expect(pages).toContain(4);
    scratch(file, 0);
    expect(await store.verify()).toContainEqual(expect.objectContaining({ where: "base", page: 1, offset: 0 }));
    expect(JSON.stringify(await store.verify())).not.toContain("4711");
  });

  test("L7 a log whose header fails its checksum", async () => {
    const { file, store } = await opened();
    // Not the salts: they would say that it is another log.
    scratch(`${file}-wal`, 24);
    expect(await store.verify()).toContainEqual(expect.objectContaining({ where: "log", offset: 0 }));
  });
});
