// Chromium keeps large values of IndexedDB in files of their own. One that is gone is what damage there looks like: the
// store says so, and salvage reads the others (L7).
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "./fixtures.ts";
import { expectMost, fill, salvaged } from "./salvage.ts";

test("L7 what is left of a database comes over when a file of the browser's is gone", async ({
  launch,
  profile,
  server,
}) => {
  const before = await launch();
  await fill(await before.open(`${server.url}/`));
  await before.close();
  const files = await readdir(profile, { recursive: true, withFileTypes: true });
  const values = files.filter((file) => file.isFile() && file.parentPath.includes(".indexeddb.blob"));
  expect(values.length).toBeGreaterThan(3);
  const [, second] = values.map(({ parentPath, name }) => join(parentPath, name)).sort();
  await rm(second!);
  const browser = await launch();
  const found = await salvaged(await browser.open(`${server.url}/`));
  expect(found.opened).toBe("image-corrupt");
  expect(found.problems).toEqual([expect.stringMatching(/^block \d of its base cannot be read by the browser$/)]);
  expectMost(found);
});
