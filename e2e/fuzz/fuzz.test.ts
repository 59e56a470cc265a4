// Hostile input, 500 cases of each kind; `npm run fuzz` does 10,000. A typed error or a right answer, within 2 s of CPU
// and 256 MB, no hang, no crash, and what is refused stays as it is.
import { expect, test } from "vitest";
import { fuzz, KINDS } from "./supervise.js";

const CASES = 500;

test.each(KINDS)("L7 hostile %s: a typed error or a right answer", { timeout: 600_000 }, async (kind) => {
  const { findings } = await fuzz({ kind, cases: CASES, seed: Math.floor(Math.random() * 1e9) });
  expect(findings).toEqual([]);
});
