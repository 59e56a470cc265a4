// Registers the contract suite (L8) in every context of a page that an adapter is for, each scenario a test of its own. The
// list is made here for its names, and for what is skipped by what the README promises; the page's own must say the same.
import { readFileSync } from "node:fs";
import type { GoldenExpected } from "perdure/contract";
import { PROMISED } from "../promised.ts";
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

  for (const { name, on, store, contexts } of targets) {
    const supports = PROMISED[on];
    const newPlace = (): never => {
      throw new Error("nothing runs here");
    };
    const listed = scenariosOf({ name, store, supports, newPlace }, databases);
    for (const context of contexts) {
      test.describe(`${name}, ${context}`, () => {
        for (const [index, { title, skipped }] of listed.entries()) {
          test(title, async ({ tab }) => {
            const run = { target: name, index, inWorker: context === "worker" };
            const outcome = await tab.evaluate(
              ({ target, index: at, inWorker }) =>
                inWorker ? lab.inWorker("scenario", target, at) : lab.scenario(target, at),
              run,
            );
            expect(outcome.title).toBe(title);
            // An adapter that claims less than it promises would have it skipped, and nobody would know.
            expect(outcome.skipped).toBe(skipped);
            test.skip(skipped, "the README's table rules it out for this adapter");
            expect(outcome.failure).toBe(null);
          });
        }
      });
    }
  }
}
