// kill -9 in a commit loop, a few times; `npm run test:kill` does it 200 times.
import { describe, expect, test } from "vitest";
import { killRounds } from "./kill.js";
import { STOCK, stockSqlites } from "./stock.js";

describe("kill -9 while committing", () => {
  test("L2 L5 a sound file with every acknowledged commit, once and whole", { timeout: 300_000 }, async () => {
    const { acknowledged, problems } = await killRounds({ rounds: 12, seed: Math.floor(Math.random() * 1e6) });
    expect(problems).toEqual([]);
    expect(acknowledged).toBeGreaterThan(0);
  });

  // The test above asks every stock SQLite that is installed; these say which ones were.
  for (const { name, isInstalled } of STOCK) {
    test.skipIf(!isInstalled)(`L5 ${name} looked at every file`, () => {
      expect(stockSqlites.map((stock) => stock.name)).toContain(name);
    });
  }
});
