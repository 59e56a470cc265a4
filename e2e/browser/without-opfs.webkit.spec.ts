// Where there is no origin private file system, opening one says so (L7).
import { expect, test } from "./fixtures.ts";

test("L7 OPFS is refused with a typed error where there is none", async ({ launch, server }) => {
  const tab = await (await launch()).open(`${server.url}/`);
  const found = await tab.evaluate(() => lab.inWorker("audit", { on: "OPFS", name: "none" })).catch(String);
  expect(found).toMatch(/StorageRefused: none: /);
});
