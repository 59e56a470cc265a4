// A store that is closed while its disk takes nothing: what it leaves may say for ever that it writes, and its process lives.
// And lock files that were made up: what they say is used for names of files.
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PerdureError, SqliteStore } from "../node.ts";
import { fileAdapter } from "./index.ts";
import { thisProcess } from "./owner.ts";
import { formatOwnerFile } from "./owner-file.ts";
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

test("L4 a file that does not close fails nothing, and keeps nobody out", async () => {
  const file = path.join(temporaryFolder(onTestFinished, "memory"), "a.db");
  const open = (): Promise<SqliteStore> => SqliteStore.create(fileAdapter(file, { busyTimeoutMs: 0 }));
  const store = await open();
  store.save(sample("one"));
  // Somebody closed what was not his.
  const own = fs.readdirSync("/proc/self/fd").filter((fd) => isLinkTo(`/proc/self/fd/${fd}`, `${file}-wal`));
  expect(own.length).toBe(1);
  fs.closeSync(Number(own[0]));
  store.close();
  const again = await open();
  expect(again.load("one")?.version).toBe(1);
  again.close();
});

function isLinkTo(link: string, target: string): boolean {
  try {
    return fs.readlinkSync(link) === target;
  } catch {
    return false; // the listing's own
  }
}

test.each([{ token: "/../../precious" }, { token: "" }, { token: 7 }, { pid: "x" }, null])(
  "L7 a lock that was made up leads to no other file, and keeps nobody out: %j",
  async (forged) => {
    const parent = temporaryFolder(onTestFinished, "memory");
    const folder = path.join(parent, "inside");
    fs.mkdirSync(folder);
    const precious = path.join(parent, "precious");
    fs.writeFileSync(precious, "x");
    const file = path.join(folder, "a.db");
    if (forged?.token === "/../../precious") fs.mkdirSync(`${file}-lock.`); // so that the way out leads somewhere
    // Of this machine, and dead.
    const owner =
      forged === null ? null : { ...thisProcess(), pid: 999_999_999, started: "1", locked: false, ...forged };
    fs.writeFileSync(`${file}-lock`, formatOwnerFile(owner, false, "../../precious"));
    const opening = SqliteStore.create(fileAdapter(file, { busyTimeoutMs: 1000 }));
    if (fs.existsSync(`${file}-lock.`)) await expect(opening).rejects.toBeInstanceOf(PerdureError);
    else (await opening).close();
    expect(fs.readFileSync(precious, "utf8")).toBe("x");
  },
);
