// The trace ring: steps in order, the oldest falling out, an index that only grows.
import { equal } from "../check.ts";
import { order } from "../samples.ts";
import { type Chapter, scenario, scenarioFor } from "../scenario.ts";
import type { Store } from "../stage.ts";

async function steps(store: Store, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) await store.appendTrace("a", { n });
}

const indexes = async (store: Store, id = "a"): Promise<number[]> =>
  (await store.readTrace(id)).map(({ index }) => index);

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

export const trace: Chapter = {
  title: "trace",
  scenarios: [
    scenario("L1 steps come oldest first, each Execution with its own count", async ({ open }) => {
      const store = await open();
      const exe = order("a");
      await store.commit(exe, { trace: { by: "commit" } });
      await store.appendTrace("b", { by: "other" });
      await store.appendTrace("a", { by: "appendTrace" });
      await store.commit(exe, { trace: { by: "again" } });
      equal(await store.readTrace("a"), [
        { by: "commit", index: 0 },
        { by: "appendTrace", index: 1 },
        { by: "again", index: 2 },
      ]);
      equal(await store.readTrace("b"), [{ by: "other", index: 0 }], "no Execution is needed");
    }),

    scenario("L1 index comes from the column, whatever the entry says", async ({ open }) => {
      const store = await open();
      await store.appendTrace("a", { index: 99, x: 1 });
      equal(await store.readTrace("a"), [{ x: 1, index: 0 }]);
    }),

    scenario("L1 200 steps are kept unless told otherwise", async ({ open }) => {
      const store = await open();
      await steps(store, 0, 203);
      equal(await indexes(store), range(4, 203));
    }),

    scenario("L1 the ring keeps traceMax steps, in commits too", async ({ open }) => {
      const store = await open({ traceMax: 3 });
      await steps(store, 0, 1);
      equal(await indexes(store), [0, 1]);
      const exe = order("a");
      for (let n = 2; n < 6; n++) await store.commit(exe, { trace: { n } });
      equal(await store.readTrace("a"), [
        { n: 3, index: 3 },
        { n: 4, index: 4 },
        { n: 5, index: 5 },
      ]);
      await store.appendTrace("b", {});
      equal(await indexes(store, "b"), [0]);
    }),

    scenario("L1 traceMax 1 keeps the last step", async ({ open }) => {
      const store = await open({ traceMax: 1 });
      await steps(store, 0, 4);
      equal(await store.readTrace("a"), [{ n: 4, index: 4 }]);
    }),

    ...[0, -1, null].map((traceMax) =>
      scenario(`L1 traceMax ${traceMax} keeps everything`, async ({ open }) => {
        const store = await open({ traceMax });
        await steps(store, 0, 209);
        equal(await indexes(store), range(0, 209));
      }),
    ),

    scenarioFor(
      ["durable"],
      "L2 the index goes on after reopening, and a smaller ring trims what it finds",
      async ({ open }) => {
        const first = await open({ traceMax: null });
        await steps(first, 0, 9);
        await first.close();
        const second = await open({ traceMax: 2 });
        equal(await indexes(second), range(0, 9), "reading trims nothing");
        await steps(second, 10, 10);
        equal(await indexes(second), [9, 10]);
      },
    ),
  ],
};
