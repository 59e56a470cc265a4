// L4 on the origin private file system, when the browser gives files away under a worker that is still writing.
import { expect, test } from "./fixtures.ts";
import type { Held } from "./pages/given-away.ts";

const HOLDERS = 5;
/** More than the next one needs to open. */
const ENDLESS = 100_000;
const LAST = 100;

test("L4 a worker in the middle of commits and checkpoints is stopped by the next one, and nothing is lost", async ({
  launch,
  server,
}) => {
  const browser = await launch();
  const holding: Promise<Held>[] = [];
  const other = await browser.open(`${server.url}/`);
  for (let i = 0; i < HOLDERS; i++) {
    const tab = await browser.open(`${server.url}/`);
    await tab.evaluate((name) => lab.inWorker("takeOver", name), "given-away");
    const most = i === HOLDERS - 1 ? LAST : ENDLESS;
    holding.push(tab.evaluate((it) => lab.inWorker("commitUntilLost", it.i, it.most), { i, most }));
  }
  const held = await Promise.all(holding);
  const stopped = held.slice(0, -1);
  expect(stopped.map(({ code }) => code)).toEqual(stopped.map(() => "storage-replaced"));
  expect(held.at(-1)).toEqual({ acknowledged: LAST, code: null });
  for (const { acknowledged } of stopped) expect(acknowledged).toBeGreaterThan(0);
  const counts = held.map(({ acknowledged }) => acknowledged);
  expect(await other.evaluate((all) => lab.inWorker("lostOf", "given-away", all), counts)).toEqual([]);
});
