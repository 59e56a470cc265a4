// Damage in the origin private file system: what `verify` tells of it, and a log that lost transactions before others (L7).
import { expect, test } from "vitest";
import { newExecution } from "../../src/records/codec.ts";
import { SqliteStore } from "../browser.ts";
import { FRAME_HEADER_BYTES, WAL_HEADER_BYTES } from "../wal/wal.ts";
import { openOpfs } from "./index.ts";
import { FakeOpfs } from "./testing/fake-opfs.ts";

const FRAME_BYTES = FRAME_HEADER_BYTES + 4096;

/** A store with some commits in its log. */
async function filled(fake: FakeOpfs): Promise<SqliteStore> {
  const store = await SqliteStore.create(await openOpfs("a.db", { directory: fake.directory, checkpointFrames: 1000 }));
  for (let i = 0; i < 5; i++) store.save(newExecution({ id: `e${i}`, definition_id: "order" }));
  return store;
}

test("L7 verify finds nothing in a sound store, and a byte that changed in the log of one that is open", async () => {
  const fake = new FakeOpfs();
  const store = await filled(fake);
  expect(store.verify()).toEqual([]);
  fake.rot("a.db-wal", WAL_HEADER_BYTES + FRAME_HEADER_BYTES + 5);
  expect(store.verify().map(({ kind, where }) => [kind, where])).toContainEqual(["storage", "log"]);
  fake.rot("a.db-wal", WAL_HEADER_BYTES + FRAME_HEADER_BYTES + 5);
  expect(store.verify()).toEqual([]);
  store.close();
});

test("L7 a log with damage in front of whole transactions is refused, and kept", async () => {
  const fake = new FakeOpfs();
  const store = await filled(fake);
  const left = fake.afterKill();
  left.rot("a.db-wal", WAL_HEADER_BYTES + FRAME_BYTES * 2 + FRAME_HEADER_BYTES + 5);
  const before = left.files();
  await expect(openOpfs("a.db", { directory: left.directory })).rejects.toMatchObject({
    code: "image-corrupt",
    where: { part: "log" },
  });
  expect(left.files()).toEqual(before);
  expect(left.locked).toEqual([]);
  store.close();
});
