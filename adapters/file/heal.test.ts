// A log that is not the one we knew (L2, L5, L7): removed, replaced, finished by a stock SQLite, started over by a peer.
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { AsyncSqliteStore, SqliteStore } from "../node.ts";
import { fileAdapter } from "./index.ts";
import { type Call, sample, systemError, withCalls, withOpens } from "./testing.ts";
import { atFirstSync, crashed, expectStored, place, storeWithOne } from "./testing/stored.ts";

describe("a log started over by a peer", () => {
  test.each(["fdatasyncSync", "fsyncSync"] as const)(
    "L2 L4 catching up with it is begun anew when it failed (%s), and nobody goes on with what is old",
    async (failing) => {
      const file = place();
      const options = { checkpointFrames: 4 };
      const [mine, theirs] = [
        await SqliteStore.create(fileAdapter(file, options)),
        await SqliteStore.create(fileAdapter(file, options)),
      ];
      mine.save(sample("one"));
      const one = theirs.load("one")!;
      // The first one ends in a checkpoint, and the second one lies in a new log.
      theirs.save(one);
      theirs.save(one);
      let isSick = true;
      await withCalls(
        (call) => {
          if (isSick && call === failing) throw systemError("EIO");
        },
        async () => {
          expect(() => mine.load("one")).toThrow(expect.objectContaining({ code: "storage-unreadable" }));
          expect(() => mine.save(sample("two"))).toThrow(expect.objectContaining({ code: "storage-unreadable" }));
          isSick = false;
          expect(mine.load("one")?.version).toBe(3);
          mine.save(sample("two"));
        },
      );
      expect(theirs.load("two")?.version).toBe(1);
      mine.close();
      theirs.close();
      await expectStored(file, { one: 3, two: 1 });
    },
  );
});

describe("a log taken away", () => {
  test("L2 nothing acknowledged is lost, by the one who wrote it", async () => {
    const file = place();
    const store = await SqliteStore.create(file);
    const one = sample("one");
    for (let i = 0; i < 3; i++) store.save(one);
    fs.unlinkSync(`${file}-wal`);
    store.save(one);
    await expectStored(crashed(file), { one: 4 });
    expect(store.load("one")?.version).toBe(4);
    store.close();
    await expectStored(file, { one: 4 });
  });

  test("L2 a read heals it as well", async () => {
    const file = place();
    const store = await SqliteStore.create(file);
    store.save(sample("one"));
    fs.unlinkSync(`${file}-wal`);
    expect(store.load("one")?.version).toBe(1);
    await expectStored(crashed(file), { one: 1 });
    store.close();
  });

  test("L2 L4 of two stores the first heals with what both wrote, and the second follows", async () => {
    const file = place();
    const [a, b] = [await SqliteStore.create(file), await AsyncSqliteStore.create(file)];
    const one = sample("one");
    a.save(one);
    await b.save((await b.load("one"))!);
    fs.unlinkSync(`${file}-wal`);
    // `a` did not see b's last write before the log went.
    a.save(sample("two"));
    await expectStored(crashed(file), { one: 2, two: 1 });
    await b.save(sample("three"));
    expect(a.listExecutions().items.map(({ id }) => id)).toEqual(["one", "three", "two"]);
    expect(() => a.save(one)).toThrow(/expected version 1, found 2/);
    a.close();
    await b.close();
    await expectStored(file, { one: 2, two: 1, three: 1 });
  });

  test("L7 when somebody else went on from the older state, neither side is dropped", async () => {
    const file = place();
    const a = await SqliteStore.create(file);
    const one = sample("one");
    a.save(one);
    fs.unlinkSync(`${file}-wal`);
    const b = await SqliteStore.create(file);
    expect(b.load("one")).toBeNull();
    b.save(sample("other"));
    expect(() => a.save(one)).toThrow(expect.objectContaining({ code: "storage-replaced" }));
    expect(one.version).toBe(1);
    a.close();
    b.close();
    await expectStored(file, { other: 1 });
  });

  test("L2 L5 in the middle of a commit: it goes to a new log, not into a file that nobody finds", async () => {
    const { file, store, one } = await storeWithOne();
    await atFirstSync(
      () => {
        fs.rmSync(`${file}-wal`);
      },
      () => store.save(one),
    );
    expect(one.version).toBe(2);
    await expectStored(crashed(file), { one: 2 });
    store.save(one);
    await expectStored(crashed(file), { one: 3 });
    store.close();
  });
});

test("L2 a log that comes and goes while it is looked at counts as gone", async () => {
  const { file, store, one } = await storeWithOne();
  fs.rmSync(`${file}-wal`);
  fs.writeFileSync(`${file}-wal`, "");
  const opening = (opened: string): void => {
    if (opened === `${file}-wal`) fs.rmSync(opened, { force: true });
  };
  await withOpens(opening, () => store.save(one));
  await expectStored(crashed(file), { one: 2 });
  store.close();
});

describe("a log replaced", () => {
  test("L2 by garbage", async () => {
    const { file, store, one } = await storeWithOne();
    fs.rmSync(`${file}-wal`);
    fs.writeFileSync(`${file}-wal`, "garbage".repeat(1000));
    store.save(one);
    await expectStored(crashed(file), { one: 2 });
    store.close();
  });

  test("L2 by an older copy of itself", async () => {
    const { file, store, one } = await storeWithOne();
    fs.copyFileSync(`${file}-wal`, `${file}-old`);
    store.save(one);
    store.save(sample("two"));
    fs.renameSync(`${file}-old`, `${file}-wal`);
    store.save(one);
    await expectStored(crashed(file), { one: 3, two: 1 });
    store.close();
  });

  test("L2 by an empty file, or cut to nothing in place", async () => {
    const { file, store, one } = await storeWithOne();
    fs.rmSync(`${file}-wal`);
    fs.writeFileSync(`${file}-wal`, "");
    store.save(one);
    await expectStored(crashed(file), { one: 2 });
    fs.truncateSync(`${file}-wal`, 0);
    store.save(one);
    await expectStored(crashed(file), { one: 3 });
    store.close();
  });
});

describe("the file itself taken away", () => {
  test.each(["removed", "replaced"])("L7 %s: a typed error, and no new file", async (how) => {
    const { file, store, one } = await storeWithOne();
    if (how === "removed") fs.unlinkSync(file);
    else fs.renameSync(crashed(file), file);
    expect(() => store.save(one)).toThrow(expect.objectContaining({ code: "storage-replaced" }));
    expect(one.version).toBe(1);
    store.close();
    expect(fs.existsSync(file)).toBe(how === "replaced");
  });
});

test("L7 the file replaced and its log gone in the middle of a commit: nothing is laid beside the new one", async () => {
  const { file, store, one } = await storeWithOne();
  const replaced = crashed(file);
  const syncing = (call: Call): void => {
    if (call !== "fdatasyncSync") return;
    fs.rmSync(`${file}-wal`, { force: true });
    if (fs.existsSync(replaced)) fs.renameSync(replaced, file);
  };
  const refusal = expect.objectContaining({ code: "storage-replaced" });
  await withCalls(syncing, () => expect(() => store.save(one)).toThrow(refusal));
  expect(one.version).toBe(1);
  store.close();
  expect(fs.existsSync(`${file}-wal`)).toBe(false);
});
