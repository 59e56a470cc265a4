// A place that became another database while it was open: pages of another size cannot be taken in. The store says so for
// as long as it is open, and leaves what is there alone.
import { expect, test } from "vitest";
import { memoryAdapter } from "../../adapters/memory.ts";
import { Faults, withFaults, withFaultsAsync } from "../contract/faults.ts";
import { Fenced } from "../errors.ts";
import type { Pages, Position, SyncAdapter } from "../port.ts";
import { newExecution } from "../records/codec.ts";
import { AsyncSqliteStore } from "./async-sqlite-store.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** An adapter whose place is replaced when told to. It tells that once, and then expects to be asked from there on. */
class Replaceable {
  isReplaced = false;
  /** What the store was closed with. */
  closedWith: (Pages | null)[] = [];

  adapter(): SyncAdapter {
    const inner = memoryAdapter();
    const position: Position = { adapter: "another" };
    let isTold = false;
    return {
      ...inner,
      pull: (since) => {
        if (!this.isReplaced) return null;
        if (isTold && since !== position) throw new Fenced("here");
        isTold = true;
        return { position, image: { pageSize: 1024, pageCount: 1, chunks: [new Uint8Array(1024)] } };
      },
      close: (pages) => void this.closedWith.push(pages),
    };
  }
}

test.each<[string, (adapter: SyncAdapter, faults: Faults) => Promise<SqliteStore | AsyncSqliteStore>]>([
  ["SqliteStore", (adapter, faults) => SqliteStore.create(withFaults(adapter, faults))],
  ["AsyncSqliteStore", (adapter, faults) => AsyncSqliteStore.create(withFaultsAsync(adapter, faults))],
])("L7 %s: pages of another size are told as a place replaced, every time, and nothing is written", async (_, open) => {
  const place = new Replaceable();
  const faults = new Faults();
  const store = await open(place.adapter(), faults);
  const exe = newExecution({ id: "a", definition_id: "order" });
  await store.save(exe);
  place.isReplaced = true;
  faults.calls = [];
  const calls = [() => store.load("a"), () => store.save(exe), () => store.verify(), () => store.load("a")];
  for (const call of [...calls, ...calls]) {
    await expect((async () => call())()).rejects.toMatchObject({ code: "storage-replaced" });
  }
  expect([faults.appends, exe.version]).toEqual([0, 1]);
  // Whoever closes it may not lay these pages into what is there now.
  await store.close();
  expect(place.closedWith).toEqual([null]);
});
