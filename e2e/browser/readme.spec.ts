// The README's example for the browser, run as it stands there.
import { expect, test } from "./fixtures.ts";

test("the README's example runs, and leaves what it says", async ({ launch, server }) => {
  const tab = await (await launch()).open(`${server.url}/`);
  const found = await tab.evaluate(async (example) => {
    await import(example);
    const names = (await indexedDB.databases()).map(({ name }) => name);
    const copy = await lab.perdure.AsyncSqliteStore.create("copy", { mustExist: true });
    const problems = await copy.verify();
    await copy.close();
    return { names, problems };
  }, "/readme.js");
  expect(found.problems).toEqual([]);
  expect(new Set(found.names)).toEqual(new Set(["perdure:copy", "perdure:orders"]));
});
