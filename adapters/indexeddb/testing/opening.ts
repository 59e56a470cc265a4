// Stores and adapters on one place of a site, closed when the test is over, and what tests write into them.
import { onTestFinished } from "vitest";
import type { AsyncAdapter, PageDelta, Position } from "../../../src/port.ts";
import { newExecution } from "../../../src/records/codec.ts";
import { AsyncSqliteStore } from "../../../src/store/async-sqlite-store.ts";
import { adapterOn } from "../adapter.ts";
import type { IndexedDbOptions } from "../options.ts";
import type { Tab } from "./site.ts";

/** The name of the lock, and of the database, of the place that all of them open. */
export const LOCK: string = "perdure:store";
const PAGE_SIZE = 512;

/** An Execution to save. */
export const order = (id: string): ReturnType<typeof newExecution> => newExecution({ definition_id: "order", id });

/** A store that is closed after the test. */
export async function openStore(tab: Tab, options: IndexedDbOptions = {}): Promise<AsyncSqliteStore> {
  const store = await AsyncSqliteStore.create(adapterOn(tab, "store", options));
  onTestFinished(() => store.close());
  return store;
}

/** An adapter without a store, and the position where it stands. */
export async function openAdapter(
  tab: Tab,
  options: IndexedDbOptions = {},
): Promise<{ adapter: AsyncAdapter; position: Position }> {
  const adapter = adapterOn(tab, "store", options);
  onTestFinished(() => adapter.close(null));
  const { position } = await adapter.load();
  return { adapter, position };
}

/** A database of one page, all of it this byte. */
export const filled = (byte: number): PageDelta => ({
  pageSize: PAGE_SIZE,
  pageCount: 1,
  pages: new Map([[1, new Uint8Array(PAGE_SIZE).fill(byte)]]),
});

/** Until what was begun in this turn has come about. */
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
