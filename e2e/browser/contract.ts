// Registers the contract suite (L8) in every context of a page that an adapter is for, each scenario a test of its own. The
// list is made here for its names alone; what runs, and what is skipped, says the page's own.
import { readFileSync } from "node:fs";
import type { GoldenExpected } from "perdure/contract";
import { expect, test as base } from "./fixtures.ts";
import type { Tab } from "./drivers/driver.ts";
import { GOLDEN, scenariosOf } from "./pages/scenarios.ts";
import type { BrowserTarget } from "./pages/targets.ts";

const golden = (name: string): Uint8Array =>
  readFileSync(new URL(`../../src/contract/golden/${name}`, import.meta.url));
const expected = JSON.parse(golden("expected.json").toString()) as GoldenExpected;
const databases = GOLDEN.map(({ name, wal }) => ({
  ...{ name, expected, database: golden(name), wal: wal === null ? null : golden(wal) },
}));

/** The page in which a test worker runs its scenarios. */
const test = base.extend<object, { readonly tab: Tab }>({
  tab: [async ({ shared, server }, use) => use(await shared.open(`${server.url}/`)), { scope: "worker" }],
});

/** Called by a spec, once. */
export function contractTests(targets: readonly BrowserTarget[]): void {
  // There is nothing to see, and a trace of each scenario costs more than the scenario.
  test.use({ trace: "off", screenshot: "off" });

  for (const { name, store, contexts } of targets) {
    const supports = { durable: true, shared: true, strict: true };
    const newPlace = (): never => {
      throw new Error("nothing runs here");
    };
    const listed = scenariosOf({ name, store, supports, newPlace }, databases);
    for (const context of contexts) {
      test.describe(`${name}, ${context}`, () => {
        for (const [index, { title }] of listed.entries()) {
          test(title, async ({ tab }) => {
            const run = { target: name, index, inWorker: context === "worker" };
            const outcome = await tab.evaluate(
              ({ target, index: at, inWorker }) =>
                inWorker ? lab.inWorker("scenario", target, at) : lab.scenario(target, at),
              run,
            );
            expect(outcome.title).toBe(title);
            // Known in the page only: there contract() skips it, for what the adapter's `supports` says and nothing else (L8).
            test.skip(outcome.skipped, "not among what the adapter supports");
            expect(outcome.failure).toBe(null);
          });
        }
      });
    }
  }
}
