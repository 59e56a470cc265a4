// A store that is closed while its disk takes nothing: what it leaves may say for ever that it writes, and its process lives.
import * as path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SqliteStore } from "../node.ts";
import { fileAdapter } from "./index.ts";
import { sample, systemError, temporaryFolder, withCalls } from "./testing.ts";

test("L2 L4 closed while every call fails, the place can be opened again on this thread, and has what was acknowledged", async () => {
  const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
  const open = (): Promise<SqliteStore> => SqliteStore.create(fileAdapter(file, { busyTimeoutMs: 0 }));
  const store = await open();
  store.save(sample("one"));
  let isSick = false;
  await withCalls(
    (call) => {
      // From a sync on, in the middle of a commit.
      isSick ||= call === "fdatasyncSync";
      if (isSick) throw systemError("EIO");
    },
    () => {
      expect(() => store.save(sample("two"))).toThrow("EIO");
      store.close();
    },
  );
  const again = await open();
  expect(again.load("one")?.version).toBe(1);
  // Nothing could take "two" away: whether it is there cannot be told.
  again.save(sample("three"));
  again.close();
});
