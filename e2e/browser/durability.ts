// Registers L2 in a browser: whatever ends a page, a tab or the browser, every commit that was acknowledged is there.
// Acknowledged means: the test process has heard of it before. PERDURE_KILL_ROUNDS sets how often browsers are killed.
import { expect, test } from "./fixtures.ts";
import { audit, startLoop } from "./loop.ts";
import type { Place } from "./pages/loop.ts";
import type { Tab } from "./drivers/driver.ts";

const ROUNDS = Number(process.env["PERDURE_KILL_ROUNDS"] ?? 3);

const ENDINGS: Readonly<Record<string, (tab: Tab, url: string) => Promise<unknown>>> = {
  reloaded: (tab) => tab.reload(),
  left: (tab, url) => tab.goto(`${url}/index.html`),
  closed: (tab) => tab.close(),
};

/** The browser is killed in a commit loop, again and again on one profile. */
export function killTests(title: string, place: Place): void {
  test(`L2 ${title}: the browser is killed in a commit loop, ${ROUNDS} times`, async ({ launch, server }) => {
    test.setTimeout(60_000 * (ROUNDS + 2));
    let stored = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const browser = await launch();
      const loop = await startLoop(await browser.open(`${server.url}/`), server, place);
      await loop.more(3 + ((round * 13) % 29));
      await browser.kill();
      loop.stop();

      const after = await launch();
      const { n, problems } = await audit(await after.open(`${server.url}/`), place);
      expect(problems).toEqual([]);
      expect(n).toBeGreaterThanOrEqual(loop.acknowledged);
      expect(loop.acknowledged).toBeGreaterThan(stored);
      stored = n;
      await after.close();
    }
  });
}

/** A page is gone in the middle of commits. */
export function endingTests(on: Place["on"]): void {
  for (const [ending, end] of Object.entries(ENDINGS)) {
    test(`L2 ${on}: a page is ${ending} in the middle of commits`, async ({ launch, server }) => {
      const place: Place = { on, name: "ended" };
      const browser = await launch();
      // Closing the last tab would end the browser.
      const other = await browser.open(`${server.url}/`);
      let stored = 0;
      for (let round = 0; round < 5; round++) {
        const tab = await browser.open(`${server.url}/`);
        const loop = await startLoop(tab, server, place);
        await loop.more(2 + round * 3);
        await end(tab, server.url);
        const { n, problems } = await audit(other, place);
        loop.stop();
        expect(problems).toEqual([]);
        expect(n).toBeGreaterThanOrEqual(loop.acknowledged);
        expect(n).toBeGreaterThan(stored);
        stored = n;
        if (ending !== "closed") await tab.close();
      }
    });
  }
}
