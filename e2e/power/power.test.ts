// Power cuts, a few of them; `npm run test:faults` makes many more.
import { expect, test } from "vitest";
import { CASES, cutPower } from "./power.js";

test.each(CASES)(
  "L2 L5 power cuts lose nothing: $kind, syncs fail: $syncsFail, is killed: $dies",
  async (one) => {
    const seed = Math.floor(Math.random() * 1e6);
    const { looks, problems } = await cutPower({ ...one, seed, commits: 45, share: 0.1 });
    expect(problems).toEqual([]);
    expect(looks).toBeGreaterThan(0);
  },
  240_000,
);
