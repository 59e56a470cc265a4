// What happens to pages and their storage, brought about through the DevTools protocol (L2, L4, L7): a crash, a freeze,
// storage cleared or too small, no network. Each ends in a typed error at the call that suffered it, or in recovery.
import type { CDPSession } from "@playwright/test";
import type { PlaywrightTab } from "./drivers/playwright.ts";
import { expect, test } from "./fixtures.ts";
import { audit, startLoop } from "./loop.ts";
import type { Place } from "./pages/loop.ts";

const place: Place = { on: "IndexedDB", name: "faults" };

const devTools = ({ page }: PlaywrightTab): Promise<CDPSession> => page.context().newCDPSession(page);

/** Opens a store that later evaluations find as `store`. */
const openStore = (tab: PlaywrightTab, name: string): Promise<void> =>
  tab.evaluate(async (it) => {
    const store = await lab.perdure.AsyncSqliteStore.create(it);
    Object.assign(globalThis, { store });
  }, name);

declare global {
  var store: Awaited<ReturnType<typeof lab.perdure.AsyncSqliteStore.create>>;
}

test("L2 L4 the renderer crashes in the middle of commits, and another tab goes on", async ({
  launchPlaywright,
  server,
}) => {
  const browser = await launchPlaywright();
  const other = await browser.open(`${server.url}/`);
  let stored = 0;
  for (let round = 0; round < 5; round++) {
    const tab = await browser.open(`${server.url}/`);
    const loop = await startLoop(tab, server, place);
    await loop.more(3 + round * 5);
    const crashed = tab.page.waitForEvent("crash");
    const tools = await devTools(tab);
    tools.send("Page.crash").catch(() => {});
    await crashed;
    loop.stop();
    expect(await other.evaluate((it) => lab.commitTimes(it, 3), place)).toBe(null);
    const { n, problems } = await audit(other, place);
    expect(problems).toEqual([]);
    expect(n).toBeGreaterThanOrEqual(loop.acknowledged + 3);
    expect(n).toBeGreaterThan(stored);
    stored = n;
    await tab.page.close();
  }
});

test("L4 a frozen tab loses the lease, is fenced, and goes on when it is resumed", async ({
  launchPlaywright,
  server,
}) => {
  const browser = await launchPlaywright();
  const frozen = await browser.open(`${server.url}/`);
  const other = await browser.open(`${server.url}/`);
  const loop = await startLoop(frozen, server, place);
  const tools = await devTools(frozen);
  for (let round = 0; round < 3; round++) {
    await loop.more(5);
    await tools.send("Page.setWebLifecycleState", { state: "frozen" });
    expect(await other.evaluate((it) => lab.commitTimes(it, 10), place)).toBe(null);
    await tools.send("Page.setWebLifecycleState", { state: "active" });
    await loop.more(5);
  }
  await frozen.close();
  loop.stop();
  const { n, problems } = await audit(other, place);
  expect(problems).toEqual([]);
  expect(n).toBeGreaterThanOrEqual(loop.acknowledged);
});

test("L4 a page that was left holds nobody up, and its store goes on when it is gone back to", async ({
  launchPlaywright,
  server,
}) => {
  const browser = await launchPlaywright();
  const tab = await browser.open(`${server.url}/`);
  const other = await browser.open(`${server.url}/`);
  // A page of before is not loaded again.
  const goBack = async (): Promise<void> => {
    await tab.page.goBack({ waitUntil: "commit" });
    await tab.page.waitForFunction(() => "lab" in globalThis);
  };
  await openStore(tab, place.name);
  await tab.evaluate(() => store.save(lab.perdure.newExecution({ id: "mine", definition_id: "d" })));
  await tab.goto(`${server.url}/index.html`);
  await goBack();
  // The page of before, with the store it had: one that was loaded anew has none.
  const version = await tab.evaluate(async () => {
    await store.save((await store.load("mine"))!);
    return (await store.load("mine"))?.version;
  });
  expect(version).toBe(2);

  await tab.goto(`${server.url}/index.html`);
  expect(await other.evaluate((it) => lab.commitTimes(it, 10), place)).toBe(null);
  // What the other tab told did not make the browser drop the page that waits: it is the one of before once more.
  await goBack();
  const seen = await tab.evaluate(async () => {
    const found = [(await store.load("mine"))?.version, (await store.load("counter"))?.version];
    await store.close();
    return found;
  });
  expect(seen).toEqual([2, 10]);
  expect(await tab.evaluate((it) => lab.commitTimes(it, 10), place)).toBe(null);
  expect(await audit(other, place)).toEqual({ n: 20, problems: [] });
});

test("L7 storage is cleared under an open store: a typed error, and a fresh store works", async ({
  launchPlaywright,
  server,
}) => {
  const tab = await (await launchPlaywright()).open(`${server.url}/`);
  await openStore(tab, "cleared");
  await tab.evaluate(() => store.save(lab.perdure.newExecution({ id: "a", definition_id: "d" })));
  const tools = await devTools(tab);
  await tools.send("Storage.clearDataForOrigin", { origin: server.url, storageTypes: "indexeddb" });
  const found = await tab.evaluate(async () => {
    const failure = (error: unknown): string =>
      error instanceof lab.perdure.PerdureError ? `${error.name} ${error.code}` : String(error);
    const save = (): Promise<void> => store.save(lab.perdure.newExecution({ id: "b", definition_id: "d" }));
    const codes = [await save().then(() => "saved", failure), await store.load("a").then(() => "loaded", failure)];
    await store.close();
    const again = await lab.perdure.AsyncSqliteStore.create("cleared");
    await again.save(lab.perdure.newExecution({ id: "c", definition_id: "d" }));
    const { items } = await again.listExecutions();
    await again.close();
    return { codes, ids: items.map(({ id }) => id) };
  });
  expect(found).toEqual({
    codes: ["StorageRefused storage-missing", "StorageRefused storage-missing"],
    ids: ["c"],
  });
});

test("L1 L7 the quota is reached: the commit fails with its code and is undone, and works when there is space", async ({
  launchPlaywright,
  server,
}) => {
  const tab = await (await launchPlaywright()).open(`${server.url}/`);
  const tools = await devTools(tab);
  await tools.send("Storage.overrideQuotaForOrigin", { origin: server.url, quotaSize: 3_000_000 });
  // An override counts for pages loaded after it.
  await tab.reload();
  await openStore(tab, "quota");
  const fill = (): Promise<{ saved: number; code: string; version: number; listed: number }> =>
    tab.evaluate(async () => {
      const text = "x".repeat(200_000);
      for (let saved = 0; ; saved++) {
        const exe = lab.perdure.newExecution({ definition_id: "big", context: { text } });
        try {
          await store.save(exe);
        } catch (error) {
          const code = error instanceof lab.perdure.FlushFailed ? error.code : String(error);
          const { items } = await store.listExecutions({ limit: 1000 });
          return { saved, code, version: exe.version, listed: items.length };
        }
      }
    });
  const first = await fill();
  expect(first).toEqual({ saved: first.saved, code: "quota", version: 0, listed: first.saved });
  expect(first.saved).toBeGreaterThan(0);

  await tools.send("Storage.overrideQuotaForOrigin", { origin: server.url, quotaSize: 300_000_000 });
  const after = await tab.evaluate(async () => {
    await store.save(lab.perdure.newExecution({ id: "after", definition_id: "d" }));
    const problems = await store.verify();
    await store.close();
    const again = await lab.perdure.AsyncSqliteStore.create("quota", { mustExist: true });
    const { items } = await again.listExecutions({ limit: 1000 });
    const version = (await again.load("after"))?.version;
    await again.close();
    return { problems, listed: items.length, version };
  });
  expect(after).toEqual({ problems: [], listed: first.saved + 1, version: 1 });
});

test("L2 nothing needs the network once the page is loaded", async ({ launchPlaywright, server }) => {
  const browser = await launchPlaywright();
  const tab = await browser.open(`${server.url}/`);
  await openStore(tab, "offline");
  await browser.context.setOffline(true);
  const versions = await tab.evaluate(async () => {
    const exe = lab.perdure.newExecution({ id: "a", definition_id: "d" });
    await store.save(exe);
    await store.close();
    const again = await lab.perdure.AsyncSqliteStore.create("offline", { mustExist: true });
    const found = await again.load("a");
    await again.close();
    return [exe.version, found?.version];
  });
  expect(versions).toEqual([1, 1]);
});
