// An adapter whose `close` fails as well: whoever opened a store, or salvaged into it, hears why that failed, and the
// adapter is closed once. No adapter of ours does this; one of somebody else's may.
import { describe, expect, test } from "vitest";
import { memoryAdapter } from "../../adapters/memory.ts";
import { Faults, withFaults, withFaultsAsync } from "../contract/faults.ts";
import { FlushFailed } from "../errors.ts";
import { salvage } from "../salvage/salvage.ts";
import { AsyncSqliteStore } from "./async-sqlite-store.ts";
import { SqliteStore } from "./sqlite-store.ts";

const NOTHING_LEFT = { place: "old", pageSize: 4096, pageCount: 0, page: () => null, problems: [] };

function unclosable() {
  return {
    ...memoryAdapter(),
    close: (): never => {
      throw new Error("closing failed");
    },
  };
}

describe.each(["load", "lock", "append"] as const)("L7 %s fails, and then close: told is the first", (call) => {
  test.each<[string, (faults: Faults) => Promise<unknown>]>([
    ["SqliteStore.create", (faults) => SqliteStore.create(withFaults(unclosable(), faults))],
    ["AsyncSqliteStore.create", (faults) => AsyncSqliteStore.create(withFaultsAsync(unclosable(), faults))],
    ["salvage", (faults) => salvage(NOTHING_LEFT, withFaultsAsync(unclosable(), faults))],
  ])("%s", async (_, work) => {
    const faults = new Faults();
    const error = new FlushFailed("place", new Error("the disk is gone"));
    faults.failing[call].push(error);
    await expect(work(faults)).rejects.toBe(error);
    expect(faults.calls.filter((one) => one === "close").length).toBe(1);
  });
});

test("L7 salvage into a place that only fails to close says so, and has tried once", async () => {
  const faults = new Faults();
  await expect(salvage(NOTHING_LEFT, withFaultsAsync(unclosable(), faults))).rejects.toThrow("closing failed");
  expect(faults.calls.filter((one) => one === "close").length).toBe(1);
});
