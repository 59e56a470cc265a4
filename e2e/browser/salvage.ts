// A database in a page's IndexedDB that tests damage, and what salvage by its name makes of it.
import type { Tab } from "./drivers/driver.ts";
import { expect } from "./fixtures.ts";

/** Stores 40 Executions of 40 KB, all of them in the base. */
export const fill = (tab: Tab): Promise<void> =>
  tab.evaluate(async () => {
    const store = await lab.perdure.AsyncSqliteStore.create(lab.indexeddb.indexedDbAdapter("orders", { foldBytes: 1 }));
    for (let i = 0; i < 40; i++) {
      const text = Array.from({ length: 5000 }, (_, n) => `${i}${n * 7919}`.padEnd(8).slice(0, 8)).join("");
      await store.save(lab.perdure.newExecution({ id: `exe-${i}`, definition_id: "order", context: { text } }));
    }
    await store.close();
  });

export interface Found {
  /** What opening it came to. */
  readonly opened: string;
  readonly problems: readonly string[];
  readonly lost: number;
  /** Executions that came over and can be read. */
  readonly rows: number;
  readonly read: number;
  /** What is wrong with what came over. */
  readonly verified: number;
}

export const salvaged = (tab: Tab): Promise<Found> =>
  tab.evaluate(async () => {
    const { AsyncSqliteStore, PerdureError, salvage } = lab.perdure;
    const opened = await AsyncSqliteStore.create("orders").then(
      () => "opened",
      (error: unknown) => (error instanceof PerdureError ? error.code : String(error)),
    );
    const { rows, lost, problems } = await salvage("orders", "rescued");
    const store = await AsyncSqliteStore.create("rescued", { mustExist: true });
    const { items } = await store.listExecutions();
    let read = 0;
    for (const { id } of items) if ((await store.load(id)) !== null) read++;
    const verified = (await store.verify()).length;
    await store.close();
    return {
      ...{ opened, problems: problems.map(({ problem }) => problem), lost: lost.length },
      ...{ rows: rows.executions, read, verified },
    };
  });

/** Most of what was stored, sound, and a word about the rest. */
export function expectMost({ lost, rows, read, verified }: Found): void {
  expect(lost).toBeGreaterThan(0);
  expect(rows).toBeGreaterThan(20);
  expect(rows).toBeLessThan(40);
  expect({ read, verified }).toEqual({ read: rows, verified: 0 });
}
