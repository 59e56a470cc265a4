// Timers: what is due, in which order, and a sweep that may only delete what it fired.
import { RecordInvalid } from "../../errors.ts";
import { equal, fails } from "../check.ts";
import { order } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";
import type { Store } from "../stage.ts";

/** Sets timers: [execution, path, fire_at]. */
async function schedule(store: Store, ...timers: readonly (readonly [string, string, number])[]): Promise<void> {
  for (const [id, path, fire_at] of timers) {
    const exe = (await store.load(id)) ?? order(id);
    await store.commit(exe, { timers: [{ op: "schedule", path, fire_at }] });
  }
}

const due = async (store: Store, now: number): Promise<string[]> =>
  (await store.dueTimers(now)).map(({ execution_id, path, fire_at }) => `${execution_id} ${path} ${fire_at}`);

export const timerChapter: Chapter = {
  title: "timers",
  scenarios: [
    scenario("L1 due means fire_at ≤ now, soonest first", async ({ open }) => {
      const store = await open();
      await schedule(store, ["a", "x", 30], ["a", "y", 10], ["b", "x", 20], ["c", "x", -5], ["c", "y", 10.25]);
      equal(await due(store, -6), []);
      equal(await due(store, -5), ["c x -5"]);
      equal(await due(store, 10), ["c x -5", "a y 10"]);
      equal(await due(store, 20), ["c x -5", "a y 10", "c y 10.25", "b x 20"]);
      equal(await due(store, 1e9), ["c x -5", "a y 10", "c y 10.25", "b x 20", "a x 30"]);
    }),

    scenario("L1 ties come in the order they were first set", async ({ open }) => {
      const store = await open();
      await schedule(store, ["b", "x", 5], ["a", "x", 5], ["c", "x", 9], ["a", "b", 5], ["c", "x", 5]);
      equal(await due(store, 5), ["b x 5", "a x 5", "c x 5", "a b 5"]);
    }),

    scenario("L1 instants keep every bit", async ({ open }) => {
      const store = await open();
      const instants = [
        0.1 + 0.2,
        1764442800.123456,
        2 ** 31,
        2 ** 31 + 0.5,
        8.64e12,
        2 ** 53 - 1,
        1e16,
        1e300,
        5e-324,
        0,
      ];
      await schedule(store, ...instants.map((at, i) => ["a", `${i}`, at] as const));
      const found = await store.dueTimers(Number.MAX_VALUE);
      equal(
        found.map(({ fire_at }) => fire_at),
        [...instants].sort((a, b) => a - b),
      );
      equal(await due(store, 0.3), ["a 9 0", "a 8 5e-324"], "0.1 + 0.2 is later than 0.3");
    }),

    scenario("L1 scheduling the same path again replaces the timer", async ({ open }) => {
      const store = await open();
      await schedule(store, ["a", "x", 10], ["a", "x", 99], ["b", "x", 10]);
      equal(await due(store, 50), ["b x 10"]);
      equal(await due(store, 99), ["b x 10", "a x 99"]);
    }),

    scenario("L1 deleteTimer deletes only what is still set for that instant", async ({ open }) => {
      const store = await open();
      await schedule(store, ["a", "x", 0.30000000000000004], ["a", "y", 1], ["b", "x", 1]);
      await store.deleteTimer("a", "x", 0.3);
      await store.deleteTimer("a", "y", 1.0000000001);
      await store.deleteTimer("c", "x", 1);
      await store.deleteTimer("a", "X", 1);
      equal(await due(store, 2), ["a x 0.30000000000000004", "a y 1", "b x 1"]);
      await store.deleteTimer("a", "x", 0.1 + 0.2);
      await store.deleteTimer("a", "y", 1);
      equal(await due(store, 2), ["b x 1"]);
    }),

    scenario("L1 a timer set anew for later survives the sweep that fired it", async ({ open }) => {
      const store = await open();
      await schedule(store, ["a", "x", 10]);
      const [fired] = await store.dueTimers(10);
      await schedule(store, ["a", "x", 20]);
      await store.deleteTimer(fired!.execution_id, fired!.path, fired!.fire_at);
      equal(await due(store, 20), ["a x 20"]);
    }),

    scenario(
      "L1 a timer set anew for the SAME instant survives a sweep that deletes before it fires",
      async ({ open }) => {
        const store = await open();
        await schedule(store, ["a", "x", 10]);
        const [fired] = await store.dueTimers(10);
        // Afterwards the store could not tell the two apart.
        await store.deleteTimer(fired!.execution_id, fired!.path, fired!.fire_at);
        await schedule(store, ["a", "x", 10]);
        equal(await due(store, 10), ["a x 10"]);
        await store.deleteTimer("a", "x", 10);
        equal(await due(store, 10), []);
      },
    ),

    scenario("L1 instants that are no numbers are refused", async ({ open }) => {
      const store = await open();
      for (const instant of [Number.NaN, Infinity, -Infinity, "5" as unknown as number]) {
        const timers = [{ op: "schedule" as const, path: "x", fire_at: instant }];
        const what = `instant ${instant}`;
        await fails(
          RecordInvalid,
          { path: ["timers", 0, "fire_at"] },
          () => store.commit(order("a"), { timers }),
          what,
        );
        // Infinity asks for all of them.
        if (instant === Infinity) equal((await store.dueTimers(instant)).length, 0);
        else await fails(RecordInvalid, { path: ["now"] }, () => store.dueTimers(instant), what);
        await fails(RecordInvalid, { path: ["fireAt"] }, () => store.deleteTimer("a", "x", instant), what);
      }
      equal(await store.load("a"), null);
    }),
  ],
};
