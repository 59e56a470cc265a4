// The crash matrix, a part of it; `npm run crash` goes through all. And the proof that it finds what is wrong: laws are
// broken on purpose in copies of the package, and each time it says so.
import { expect, test } from "vitest";
import { MUTANTS, runMutant } from "./mutants.js";
import { CASES, crash, nameOf } from "./places.js";

test.each(CASES.map((one) => ({ name: nameOf(one), one })))(
  "L1 L2 L3 L5 crashed anywhere, nothing acknowledged is lost and nothing is half: $name",
  async ({ one }) => {
    const seed = Math.floor(Math.random() * 1e6);
    const { crashes, violations } = await crash(one, { seed, limit: 120 });
    expect(violations, `seed ${seed}`).toEqual([]);
    expect(crashes).toBeGreaterThan(40);
  },
  240_000,
);

test.each(MUTANTS.filter(({ isQuick }) => isQuick === true))(
  "a law that is broken is found out: $name",
  async (mutant) => {
    expect(await runMutant(mutant)).toBeGreaterThan(0);
  },
  240_000,
);
