// A file written with `durability: "relaxed"`, and the power went: of what was not synced some is there and some is not, in
// any order. Relaxed it opens as it was at some commit; strict it may be refused, since there such a file is a damaged one.
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SqliteStore } from "../node.ts";
import { readable } from "../wal/database-file.ts";
import { scanLog } from "../wal/log.ts";
import { endOf, frameBytes } from "../wal/wal.ts";
import { contents, sample, temporaryFolder } from "./testing.ts";

const RELAXED = { durability: "relaxed" } as const;

/** What is left of four commits of one Execution each when the third one's first frame never reached the disk. */
async function cutOff(): Promise<string> {
  const file = path.join(temporaryFolder(onTestFinished), "a.db");
  const store = await SqliteStore.create(file, RELAXED);
  const log = (): Buffer => fs.readFileSync(`${file}-wal`);
  for (const id of ["one", "two"]) store.save(sample(id));
  const { position } = scanLog(readable(log()))!;
  for (const id of ["three", "four"]) store.save(sample(id));
  const left = path.join(temporaryFolder(onTestFinished), "a.db");
  fs.copyFileSync(file, left);
  fs.writeFileSync(`${left}-wal`, log().fill(0, endOf(position), endOf(position) + frameBytes(position.pageSize)));
  store.close();
  return left;
}

const ids = (store: SqliteStore): string[] => store.listExecutions().items.map(({ id }) => id);

test("L7 what a power cut leaves of it is refused when it is opened strict, and not touched", async () => {
  const left = await cutOff();
  const before = contents(path.dirname(left));
  await expect(SqliteStore.create(left)).rejects.toMatchObject({ code: "image-corrupt", where: { part: "log" } });
  expect(contents(path.dirname(left))).toEqual(before);
});

test("L5 opened relaxed it is as it was at a commit, goes on, and once closed opens strict again", async () => {
  const left = await cutOff();
  const store = await SqliteStore.create(left, RELAXED);
  expect(ids(store)).toEqual(["one", "two"]);
  expect(store.verify()).toEqual([]);
  store.save(sample("five"));
  store.close();
  const strict = await SqliteStore.create(left);
  expect(ids(strict)).toEqual(["five", "one", "two"]);
  expect(strict.verify()).toEqual([]);
  strict.close();
});
