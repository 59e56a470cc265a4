// The outbox and the spawns as a relay sees them: order, limits, acks, and a sequence that never goes back.
import { RecordInvalid } from "../../errors.ts";
import { equal, fails } from "../check.ts";
import { order } from "../samples.ts";
import { type Chapter, type Scenario, scenario, scenarioFor } from "../scenario.ts";
import type { Store } from "../stage.ts";

/** The two queues have the same rules. */
interface Queue {
  readonly name: string;
  readonly table: string;
  add(store: Store, tags: readonly string[]): Promise<void>;
  pending(store: Store, options?: { limit?: number | null }): Promise<{ seq: number; tag: string }[]>;
  ack(store: Store, seq: number): unknown;
}

const outbox: Queue = {
  name: "Outbox",
  table: "outbox",
  async add(store, tags) {
    const exe = (await store.load("a")) ?? order("a");
    await store.commit(exe, { emits: tags.map((kind) => ({ event: { kind } })) });
  },
  async pending(store, options) {
    return (await store.pendingOutbox(options)).map(({ seq, event }) => ({ seq, tag: event.kind }));
  },
  ack: (store, seq) => store.ackOutbox(seq),
};

const spawns: Queue = {
  name: "Spawn",
  table: "spawns",
  async add(store, tags) {
    const exe = (await store.load("a")) ?? order("a");
    await store.commit(exe, { spawns: tags.map((child_id) => ({ child_id })) });
  },
  async pending(store, options) {
    return (await store.pendingSpawns(options)).map(({ seq, child_id }) => ({ seq, tag: child_id }));
  },
  ack: (store, seq) => store.ackSpawn(seq),
};

const rules = ({ name, table, add, pending, ack }: Queue): Scenario[] => [
  scenario(`L1 ${table}: rows come oldest first, across commits and Executions`, async ({ open }) => {
    const store = await open();
    await add(store, ["one", "two"]);
    await add(store, []);
    await add(store, ["three"]);
    const rows = [1, 2, 3].map((seq) => ({ seq, tag: ["one", "two", "three"][seq - 1] }));
    equal(await pending(store), rows);
    equal(await pending(store), rows, "reading takes nothing away");
  }),

  scenario(`L1 ${table}: a limit gives the oldest`, async ({ open }) => {
    const store = await open();
    await add(store, ["one", "two", "three"]);
    const tags = async (limit: number | null): Promise<string[]> =>
      (await pending(store, { limit })).map(({ tag }) => tag);
    equal(await tags(1), ["one"]);
    equal(await tags(2), ["one", "two"]);
    equal(await tags(3), ["one", "two", "three"]);
    equal(await tags(1_000_000), ["one", "two", "three"]);
    equal(await tags(Number.MAX_SAFE_INTEGER), ["one", "two", "three"]);
    equal(await tags(null), ["one", "two", "three"]);
    for (const limit of [0, -1, 1.5, Number.NaN, Infinity]) {
      await fails(RecordInvalid, { code: "record-invalid" }, () => pending(store, { limit }), `limit ${limit}`);
    }
  }),

  scenario(`L1 ack${name} takes away one row, and an unknown seq is no error`, async ({ open }) => {
    const store = await open();
    await add(store, ["one", "two", "three"]);
    await ack(store, 2);
    const left = [
      { seq: 1, tag: "one" },
      { seq: 3, tag: "three" },
    ];
    equal(await pending(store), left);
    for (const seq of [2, 0, -1, 99, Number.MAX_SAFE_INTEGER]) await ack(store, seq);
    equal(await pending(store), left);
    for (const seq of [1.5, Number.NaN, Infinity, "1" as unknown as number]) {
      await fails(RecordInvalid, { code: "record-invalid" }, () => ack(store, seq), `seq ${seq}`);
    }
    equal(await pending(store), left);
  }),

  scenario(`L1 ${table}: a seq is never used again after an ack`, async ({ open }) => {
    const store = await open();
    await add(store, ["one", "two"]);
    await ack(store, 1);
    await ack(store, 2);
    equal(await pending(store), []);
    await add(store, ["three"]);
    equal(await pending(store), [{ seq: 3, tag: "three" }]);
  }),

  scenarioFor(["durable"], `L2 ${table}: a seq is never used again after reopening either`, async ({ open }) => {
    const first = await open();
    await add(first, ["one", "two"]);
    await ack(first, 1);
    await ack(first, 2);
    await first.close();
    const second = await open();
    equal(await pending(second), []);
    await add(second, ["three"]);
    equal(await pending(second), [{ seq: 3, tag: "three" }]);
  }),
];

export const relay: Chapter = {
  title: "outbox and spawns",
  scenarios: [
    ...rules(outbox),
    ...rules(spawns),

    scenario("L7 a row no one can read is named by its seq, and an ack gets past it", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await outbox.add(store, ["one"]);
      await spawns.add(store, ["one"]);
      await place.run("INSERT INTO outbox (event) VALUES ('secret-4711')");
      await place.run(
        "INSERT INTO spawns (parent_id, child_id, root_path, context) VALUES ('a', 'c', '', '[\"secret-4711\"]')",
      );
      const message = "expected an object";
      await fails(RecordInvalid, { message: "outbox 2: the stored text is not JSON" }, () => store.pendingOutbox());
      await fails(RecordInvalid, { message: `spawn 2: ${message}` }, () => store.pendingSpawns());
      equal(await outbox.pending(store, { limit: 1 }), [{ seq: 1, tag: "one" }]);
      await store.ackOutbox(2);
      await store.ackSpawn(2);
      equal(await outbox.pending(store), [{ seq: 1, tag: "one" }]);
      equal(await spawns.pending(store), [{ seq: 1, tag: "one" }]);
    }),

    scenario("L1 NaN and Infinity in the original's spawn and trace JSON are read as null", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      const text = '{"a": NaN, "b": [Infinity, -Infinity, 1e3], "c": "NaN, \\" Infinity", "NaN": {"d": -1}}';
      const value = { a: null, b: [null, null, 1000], c: 'NaN, " Infinity', NaN: { d: -1 } };
      await place.run(`INSERT INTO spawns (parent_id, child_id, root_path, context) VALUES ('a', 'c', 'r', '${text}')`);
      await place.run(`INSERT INTO trace VALUES ('a', 7, '${text}')`);
      equal((await store.pendingSpawns())[0]?.context, value);
      equal(await store.readTrace("a"), [{ ...value, index: 7 }]);
    }),
  ],
};
