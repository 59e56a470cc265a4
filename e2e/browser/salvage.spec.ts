// Salvage in a page, by name, from an IndexedDB of the browser's own that lost some of what was stored (L7).
import { test, expect } from "./fixtures.ts";
import { expectMost, fill, salvaged } from "./salvage.ts";

test("L7 what is left of a database that lost a block comes over", async ({ launch, server }) => {
  const tab = await (await launch()).open(`${server.url}/`);
  await fill(tab);
  await tab.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open("perdure:orders");
        opening.addEventListener("success", () => {
          const transaction = opening.result.transaction("perdure", "readwrite");
          transaction.objectStore("perdure").delete(["base", 2]);
          transaction.addEventListener("complete", () => resolve(opening.result.close()));
          transaction.addEventListener("abort", () => reject(new Error("nothing was deleted")));
        });
      }),
  );
  const found = await salvaged(tab);
  expect(found).toMatchObject({ opened: "image-corrupt", problems: ["block 2 of its base is missing"] });
  expectMost(found);
});
