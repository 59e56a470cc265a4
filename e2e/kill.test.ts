// kill -9 in a commit loop, a few times; `npm run test:kill` does it 200 times.
import { describe, expect, test } from "vitest";
import { killRounds } from "./kill.js";
import { stockSqlites } from "./stock.js";

describe("kill -9 while committing", () => {
  test("L2 L5 a sound file with every acknowledged commit, once and whole", { timeout: 300_000 }, async () => {
    const { acknowledged, problems } = await killRounds({ rounds: 12, seed: Math.floor(Math.random() * 1e6) });
    expect(problems).toEqual([]);
    expect(acknowledged).toBeGreaterThan(0);
  });

  // The test above asks every stock SQLite there is; this one says whether there was any.
  test.skipIf(stockSqlites.length === 0)("L5 stock SQLite was there to look", () => {
    expect(stockSqlites.map(({ name }) => name)).not.toEqual([]);
  });
});
