// IndexedDB that opens only after nobody waits for it any more.
import { expect, test } from "vitest";
import { AsyncSqliteStore } from "../../src/store/async-sqlite-store.ts";
import { adapterOn } from "./adapter.ts";
import { deleteFrom } from "./manage.ts";
import { Site } from "./testing/site.ts";

test("L7 an open that succeeds too late is told as a timeout, and its connection is closed", async () => {
  const site = new Site();
  const tab = site.tab();
  let isHeld = false;
  let held: (() => void) | null = null;
  tab.factory = () => {
    const open = (name: string, version?: number): IDBOpenDBRequest => {
      const request = site.indexedDB.open(name, version);
      const dispatch = request.dispatchEvent.bind(request);
      request.dispatchEvent = (event: Event): boolean => {
        if (!isHeld || event.type !== "success") return dispatch(event);
        held = () => dispatch(event);
        return true;
      };
      return request;
    };
    return { open } as unknown as IDBFactory;
  };
  const first = await AsyncSqliteStore.create(adapterOn(tab, "store", {}));
  await first.close();

  isHeld = true;
  const opening = AsyncSqliteStore.create(adapterOn(tab, "store", { openTimeoutMs: 1000 }));
  await expect(opening).rejects.toMatchObject({ name: "StorageRefused", code: "open-timeout" });
  held!();
  // A connection that were still open would hold this up, for ever.
  await deleteFrom(site.tab(), "store");

  isHeld = false;
  const again = await AsyncSqliteStore.create(adapterOn(tab, "store", {}));
  expect((await again.listExecutions()).items).toEqual([]);
  await again.close();
});
