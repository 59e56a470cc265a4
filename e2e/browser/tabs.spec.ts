// Several tabs on one database (L4): nobody's commit is lost, nobody waits for ever, everybody hears of it.
import { expect, test } from "./fixtures.ts";
import { audit, startLoop } from "./loop.ts";
import type { Place } from "./pages/loop.ts";

type Store = Awaited<ReturnType<typeof lab.perdure.AsyncSqliteStore.create>>;

const place: Place = { on: "IndexedDB", name: "tabs" };

test("L4 four tabs with 250 commits each on one Execution end at version 1000", async ({ launch, server }) => {
  test.setTimeout(600_000);
  const browser = await launch();
  const tabs = [];
  for (let i = 0; i < 4; i++) tabs.push(await browser.open(`${server.url}/`));
  const ends = await Promise.all(tabs.map((tab) => tab.evaluate((it) => lab.commitTimes(it, 250), place)));
  expect(ends).toEqual([null, null, null, null]);
  for (const tab of tabs) expect(await audit(tab, place)).toEqual({ n: 1000, problems: [] });
});

test("L4 a tab goes on while another is reloaded in the middle of commits, again and again", async ({
  launch,
  server,
}) => {
  const browser = await launch();
  const staying = await browser.open(`${server.url}/`);
  const moving = await browser.open(`${server.url}/`);
  const first = await staying.evaluate((it) => lab.commitTimes(it, 1), place);
  expect(first).toBe(null);
  for (let round = 0; round < 5; round++) {
    const loop = await startLoop(moving, server, place);
    await loop.more(3);
    const commits = staying.evaluate((it) => lab.commitTimes(it, 20), place);
    await loop.more(1);
    await moving.reload();
    expect(await commits).toBe(null);
    loop.stop();
  }
  const { n, problems } = await audit(staying, place);
  expect(problems).toEqual([]);
  expect(n).toBeGreaterThanOrEqual(1 + 5 * 20 + 5 * 4);
});

test("L3 a tab hears of another's commits by subscribing, and reads see them", async ({ launch, server }) => {
  const browser = await launch();
  const mine = await browser.open(`${server.url}/`);
  const theirs = await browser.open(`${server.url}/`);
  await mine.evaluate(async (name) => {
    const store = await lab.perdure.AsyncSqliteStore.create(name);
    const heard = new Promise((resolve) => {
      store.subscribe((change) => resolve(change));
    });
    Object.assign(globalThis, { store, heard });
  }, "heard");
  await theirs.evaluate(async (name) => {
    const store = await lab.perdure.AsyncSqliteStore.create(name);
    await store.commit(lab.perdure.newExecution({ id: "a", definition_id: "d" }), { trace: { step: 1 } });
    await store.close();
  }, "heard");
  const found = await mine.evaluate(async () => {
    const { store, heard } = globalThis as unknown as {
      store: Store;
      heard: Promise<unknown>;
    };
    const change = await heard;
    const version = (await store.load("a"))?.version;
    await store.close();
    return { change, version };
  });
  expect(found).toEqual({
    change: { origin: "remote", kinds: ["executions", "trace"], executionIds: ["a"] },
    version: 1,
  });
});

test("L7 another tab deletes the database: a typed error, and a new one can be made", async ({ launch, server }) => {
  const browser = await launch();
  const mine = await browser.open(`${server.url}/`);
  const theirs = await browser.open(`${server.url}/`);
  await mine.evaluate(async () => {
    const store = await lab.perdure.AsyncSqliteStore.create("gone");
    await store.save(lab.perdure.newExecution({ id: "a", definition_id: "d" }));
    Object.assign(globalThis, { store });
  });
  await theirs.evaluate(() => lab.indexeddb.deleteDatabase("gone"));
  const found = await mine.evaluate(async () => {
    const { store } = globalThis as unknown as { store: Store };
    const code = async (run: () => Promise<unknown>): Promise<unknown> => {
      try {
        return await run();
      } catch (error) {
        return error instanceof lab.perdure.PerdureError ? error.code : String(error);
      }
    };
    const codes = [
      await code(() => store.load("a")),
      await code(() => store.save(lab.perdure.newExecution({ id: "b", definition_id: "d" }))),
    ];
    await store.close();
    codes.push(await code(() => lab.perdure.AsyncSqliteStore.create("gone", { mustExist: true })));
    const again = await lab.perdure.AsyncSqliteStore.create("gone");
    codes.push(await code(() => again.load("a")));
    await again.close();
    return codes;
  });
  expect(found).toEqual(["storage-missing", "storage-missing", "storage-missing", null]);
});
