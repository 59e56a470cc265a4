// A page that is left alone for some seconds tidies up: its log is moved into the base, and nothing of it is lost (L2, L6).
import { expect, test } from "./fixtures.ts";

test("L6 L2 a log that commits in a row left is folded when nobody writes, and opens as before", async ({
  shared,
  server,
}) => {
  const tab = await shared.open(`${server.url}/`);
  await tab.evaluate(async () => {
    const adapter = lab.indexeddb.indexedDbAdapter("idle", { foldBytes: 20_000 });
    const store = await lab.perdure.AsyncSqliteStore.create(adapter);
    for (let i = 0; i < 60; i++) {
      await store.save(lab.perdure.newExecution({ id: `exe-${i}`, definition_id: "order" }));
    }
    Object.assign(globalThis, { store });
  });
  // Looks into the database by itself: a read of the store's would count as using it.
  const folded = await tab.evaluate(async () => {
    const asked = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.addEventListener("success", () => resolve(request.result));
        request.addEventListener("error", () => reject(request.error));
      });
    const db = await asked(indexedDB.open("perdure:idle"));
    const count = (kind: string): Promise<number> =>
      asked(
        db
          .transaction("perdure")
          .objectStore("perdure")
          .count(IDBKeyRange.bound([kind], [kind, []])),
      );
    while ((await count("log")) > 1);
    const blocks = await count("base");
    db.close();
    return blocks;
  });
  expect(folded).toBe(1);
  const found = await tab.evaluate(async () => {
    const { store } = globalThis as unknown as {
      store: Awaited<ReturnType<typeof lab.perdure.AsyncSqliteStore.create>>;
    };
    await store.close();
    const again = await lab.perdure.AsyncSqliteStore.create("idle", { mustExist: true });
    const { items } = await again.listExecutions();
    const problems = await again.verify();
    await again.close();
    return [items.length, problems];
  });
  expect(found).toEqual([60, []]);
});
