// What SECURITY.md says of the package as it is built.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));

test("nothing in the package evaluates text as code", async () => {
  const names = (await readdir(DIST, { recursive: true })).filter((name) => name.endsWith(".js"));
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) {
    const source = await readFile(join(DIST, name), "utf8");
    const found = source.match(
      /\beval\s*\(|\bFunction\s*\(\s*["'`]|new\s+Function\b|set(Timeout|Interval)\s*\(\s*["'`]/g,
    );
    expect({ name, found }).toEqual({ name, found: null });
  }
});
