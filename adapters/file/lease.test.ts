// The lease between processes (L4): who holds it, who may take it over, and what a death at any point leaves behind.
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AsyncSqliteStore, SqliteStore, StoreBusy } from "../node.ts";
import { runBlocking } from "../wal/program.ts";
import { asyncFileAdapter } from "./index.ts";
import { Lease } from "./lease.ts";
import { isDead, type Owner, thisProcess } from "./owner.ts";
import { formatOwnerFile, readOwnerFile } from "./owner-file.ts";
import { type Call, sample, temporaryFolder, withCalls } from "./testing.ts";

const place = (): string => path.join(temporaryFolder(onTestFinished), "a.db");

/** A process that lived a moment ago. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid!;
}

/** Somebody else, who may be dead. */
const owner = (token: string, pid: number): Owner => ({ ...thisProcess(), token, pid, started: "1", locked: false });

/** Whether a name in the folder is the owner file of a lease. */
const isOwnerFileOf = (folder: string, name: string, lease: Lease): boolean =>
  /-lock\.[0-9a-f]{32}$/.test(name) && readOwnerFile(path.join(folder, name))?.owner.token === lease.token;

/** Leaves a lock behind as a store of that process would have. */
function leaveLock(file: string, pid: number, isWriting = false, token = "dead"): void {
  fs.writeFileSync(`${file}-lock.${token}`, formatOwnerFile(owner(token, pid), isWriting));
  fs.linkSync(`${file}-lock.${token}`, `${file}-lock`);
}

describe("the lease", () => {
  test("L4 is held by one, names its holder, and is free again after", () => {
    const file = place();
    const [a, b] = [new Lease(file, 20, true), new Lease(file, 20, false)];
    runBlocking(a.acquire());
    expect(() => runBlocking(b.acquire())).toThrow(StoreBusy);
    expect(() => runBlocking(b.acquire())).toThrow(new RegExp(`process ${process.pid} `));
    expect(b.held).toBe(false);
    a.release();
    runBlocking(b.acquire());
    expect(b.held).toBe(true);
    expect(a.tryAcquire()).toBe(false);
    a.close();
    b.close();
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });

  test.each([false, true])(
    "L4 of a dead process is taken over at once, and its traces go (it was writing: %s)",
    async (isWriting) => {
      const file = place();
      leaveLock(file, await deadPid(), isWriting);
      const lease = new Lease(file, 0, true);
      runBlocking(lease.acquire());
      expect(lease.inherited).toBe(isWriting);
      expect(fs.readdirSync(path.dirname(file))).toHaveLength(2);
      lease.release();
      expect(lease.inherited).toBe(false);
      lease.close();
      expect(fs.readdirSync(path.dirname(file))).toEqual([]);
    },
  );

  test("L4 it stays with its holder until another one wants it, and then moves without waiting", () => {
    const file = place();
    const [a, b] = [new Lease(file, 0, true), new Lease(file, 0, true)];
    runBlocking(a.acquire());
    a.release();
    expect(a.isStillOurs()).toBe(true);
    runBlocking(b.acquire());
    expect([a.isStillOurs(), b.isStillOurs()]).toEqual([false, true]);
    expect(a.tryAcquire()).toBe(false);
    b.release();
    expect(a.tryAcquire()).toBe(true);
    a.close();
    runBlocking(b.acquire());
    b.close();
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });

  test("L4 of a process whose fate is unknown it moves only while that one is not writing", async () => {
    const file = place();
    const stranger = { ...owner("stranger", await deadPid()), host: "elsewhere" };
    const lease = new Lease(file, 0, true);
    for (const isWriting of [true, false]) {
      fs.writeFileSync(`${file}-lock.stranger`, formatOwnerFile(stranger, isWriting));
      fs.rmSync(`${file}-lock`, { force: true });
      fs.linkSync(`${file}-lock.stranger`, `${file}-lock`);
      expect(lease.tryAcquire()).toBe(!isWriting);
    }
    lease.close();
  });

  test("L4 who took the lock while its holder began to write waits, and so does who comes after, though it gave up", async () => {
    const file = place();
    const [token, next] = ["w".repeat(32), "n".repeat(32)];
    // The holder marked itself, found the lock its own, and went on; then it was taken.
    const writer = { ...thisProcess(), token };
    fs.writeFileSync(`${file}-lock.${token}`, formatOwnerFile(writer, true));
    leaveLock(file, await deadPid(), false, next);
    fs.writeFileSync(`${file}-lock.${next}`, formatOwnerFile(owner(next, await deadPid()), false, token));
    const lease = new Lease(file, 0, true);
    expect(lease.tryAcquire()).toBe(false);
    fs.writeFileSync(`${file}-lock.${token}`, formatOwnerFile(writer, false));
    expect(lease.tryAcquire()).toBe(true);
    lease.close();
  });

  test("L4 who gives up and closes leaves word of the one still writing", async () => {
    const file = place();
    const token = "w".repeat(32);
    const writer = { ...thisProcess(), token };
    fs.writeFileSync(`${file}-lock.${token}`, formatOwnerFile(writer, false));
    fs.linkSync(`${file}-lock.${token}`, `${file}-lock`);
    const [a, b] = [new Lease(file, 0, true), new Lease(file, 0, true)];
    // The writer marks itself while the lock is being taken from it: after the look, before the replacing.
    const renaming = (call: Call): void => {
      if (call === "renameSync") fs.writeFileSync(`${file}-lock.${token}`, formatOwnerFile(writer, true));
    };
    await withCalls(renaming, () => expect(a.tryAcquire()).toBe(false));
    a.close();
    expect(b.tryAcquire()).toBe(false);
    fs.writeFileSync(`${file}-lock.${token}`, formatOwnerFile(writer, false));
    expect(b.tryAcquire()).toBe(true);
    b.close();
  });

  test("L4 a lock that went away and came back since it was looked at is looked at anew", async () => {
    const file = place();
    const [a, b, c] = [new Lease(file, 0, true), new Lease(file, 0, true), new Lease(file, 0, true)];
    expect(a.tryAcquire()).toBe(true);
    a.release();
    // While c is about to take the heir's lock, b takes over from a, and a from b, which has begun to write.
    let isFirst = true;
    const linking = (call: Call): void => {
      if (call !== "linkSync" || !isFirst) return;
      isFirst = false;
      expect(b.tryAcquire()).toBe(true);
      b.release();
      const writing = (inner: Call): void => {
        if (inner !== "renameSync") return;
        const [mine] = fs.readdirSync(path.dirname(file)).filter((name) => isOwnerFileOf(path.dirname(file), name, b));
        fs.writeFileSync(path.join(path.dirname(file), mine!), "1", { flag: "r+" });
      };
      nested = writing;
      expect(a.tryAcquire()).toBe(false);
      nested = null;
    };
    let nested: ((call: Call) => void) | null = null;
    await withCalls(
      (call) => (nested === null ? linking(call) : nested(call)),
      () => expect(c.tryAcquire()).toBe(false),
    );
    for (const lease of [a, b, c]) lease.close();
  });

  test("L4 a store that is just being opened is not swept away by another", () => {
    const file = place();
    const lease = new Lease(file, 0, true);
    const young = `${file}-lock.${"y".repeat(32)}`;
    fs.writeFileSync(young, "");
    runBlocking(lease.acquire());
    lease.hasCompany();
    expect(fs.existsSync(young)).toBe(true);
    lease.close();
  });

  test("L4 taking over is itself left behind by a process that died in the middle of it, and of that too", async () => {
    const file = place();
    leaveLock(file, await deadPid());
    fs.writeFileSync(`${file}-lock.dead.heir`, formatOwnerFile(owner("heir", await deadPid())));
    // Of a takeover that is over but for its own traces.
    fs.writeFileSync(`${file}-lock.before.heir`, formatOwnerFile(owner("past", await deadPid())));
    fs.writeFileSync(`${file}-lock.dead.heir.heir.heir`, formatOwnerFile(owner("third", await deadPid())));
    const lease = new Lease(file, 0, true);
    runBlocking(lease.acquire());
    expect(lease.held).toBe(true);
    lease.release();
    expect(lease.hasCompany()).toBe(false);
    lease.close();
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });

  test("L4 a lock file that names nobody was cut short by a power failure", () => {
    const file = place();
    fs.writeFileSync(`${file}-lock`, "");
    const lease = new Lease(file, 0, true);
    runBlocking(lease.acquire());
    expect(lease.held).toBe(true);
    lease.close();
  });

  test("L4 a pid used again is another process; another host or container may be alive", async () => {
    const me = thisProcess();
    const file = "unused";
    expect(isDead(me, file)).toBe(false);
    const gone = { ...me, pid: await deadPid(), locked: false };
    expect(isDead(gone, file)).toBe(true);
    expect(isDead({ ...gone, host: "elsewhere" }, file)).toBe(false);
    if (me.started !== "") {
      expect(isDead({ ...me, started: "1", locked: false }, file)).toBe(true);
      expect(isDead({ ...gone, pidNamespace: "pid:[1]" }, file)).toBe(false);
      expect(isDead({ ...me, boot: "before the last restart", locked: false }, file)).toBe(true);
      expect(isDead({ ...gone, boot: "another machine", host: "elsewhere" }, file)).toBe(false);
    }
  });

  test("L4 a lock deleted by hand and taken by another is not given back by us", () => {
    const file = place();
    const [a, b] = [new Lease(file, 0, true), new Lease(file, 0, true)];
    runBlocking(a.acquire());
    fs.unlinkSync(`${file}-lock`);
    runBlocking(b.acquire());
    expect(a.isStillOurs()).toBe(false);
    a.release();
    expect(b.isStillOurs()).toBe(true);
    a.close();
    b.close();
  });

  test("L4 the folder swept while the store is open costs nothing but the sweep", () => {
    const file = place();
    const lease = new Lease(file, 0, true);
    for (const name of fs.readdirSync(path.dirname(file))) fs.unlinkSync(path.join(path.dirname(file), name));
    runBlocking(lease.acquire());
    expect(lease.isStillOurs()).toBe(true);
    lease.close();
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });
});

describe("stores and the lease", () => {
  test("L4 a living holder is waited for, up to busyTimeoutMs; nothing is written, reads go on", async () => {
    const file = place();
    const store = await SqliteStore.create(file, { busyTimeoutMs: 30 });
    const one = sample("one");
    store.save(one);
    const other = new Lease(file, 0, true);
    runBlocking(other.acquire());
    expect(() => store.save(one)).toThrow(expect.objectContaining({ code: "store-busy" }));
    expect(one.version).toBe(1);
    expect(store.load("one")?.version).toBe(1);
    other.close();
    store.save(one);
    expect(one.version).toBe(2);
    store.close();
  });

  test("L4 a writer that lost its lock while it was frozen is fenced by storage, and loses nothing of others", async () => {
    const file = place();
    const inner = asyncFileAdapter(file);
    const other = await SqliteStore.create(file);
    let isFrozen = false;
    const fenced: unknown[] = [];
    const store = await AsyncSqliteStore.create({
      ...inner,
      async append(delta, after) {
        if (!isFrozen) return inner.append(delta, after);
        isFrozen = false;
        fs.unlinkSync(`${file}-lock`);
        other.save(sample("theirs"));
        return inner.append(delta, after).catch((error: unknown) => {
          fenced.push(error);
          throw error;
        });
      },
    });
    const one = sample("one");
    await store.save(one);
    isFrozen = true;
    await store.save(one);
    expect(fenced).toMatchObject([{ code: "fenced" }]);
    expect(one.version).toBe(2);
    expect((await store.listExecutions()).items.map(({ id }) => id)).toEqual(["one", "theirs"]);
    await store.close();
    expect(other.load("one")?.version).toBe(2);
    other.close();
  });

  test("L4 a synchronous store does not wait for one of its own thread, which could never answer", async () => {
    const file = place();
    const [a, b] = [await AsyncSqliteStore.create(file), await SqliteStore.create(file, { busyTimeoutMs: 60_000 })];
    const saving = a.save(sample("one"));
    // One turn of the microtasks: the lease is taken, the flush is under way.
    for (let i = 0; i < 50 && readOwnerFile(`${file}-lock`)?.isWriting !== true; i++) await Promise.resolve();
    expect(() => b.save(sample("two"))).toThrow(/another store of this thread/);
    await saving;
    b.save(sample("two"));
    expect((await a.listExecutions()).items).toHaveLength(2);
    b.close();
    await a.close();
  });
});
