// Text that other programs stored: read with defaults for what is missing, or refused when reading it would lose something.
import { RecordInvalid } from "../../errors.ts";
import { equal, fails, ok, sameText } from "../check.ts";
import { order } from "../samples.ts";
import { type Chapter, scenario } from "../scenario.ts";
import type { Shared } from "../stage.ts";

const EVENT = { id: "e", kind: "K", created_time: null, received_time: null, data: {} };

/** Stored text that cannot be read without losing something. */
const LOSSY: readonly (readonly [string, readonly (string | number)[]])[] = [
  ['{"context": {"a": [0, {"big": 9007199254740993}]}}', ["context", "a", 1, "big"]],
  ['{"context": {"9999999999999999": "x", "b": [], "c": -9007199254740993}}', ["context", "c"]],
  ['{"context": {"q\\"": {"__proto__": 12345678901234567890}}}', ["context", 'q"', "__proto__"]],
  ['{"context": {"e": 1e999}}', ["context", "e"]],
  ['{"processed_events": 9007199254740993}', ["processed_events"]],
  ['{"context": {"s": "ok", "n": [1, 2, 100000000000000000001]}}', ["context", "n", 2]],
];

const put = ({ place }: Shared, id: string, data: string): Promise<void> =>
  place.run(`INSERT INTO executions VALUES ('${id}', 'order', '${data.replaceAll("'", "''")}', 1)`);

export const stored: Chapter = {
  title: "stored records",
  scenarios: [
    scenario("L8 missing keys take the defaults on reading, unknown ones are kept", async (stage) => {
      const shared = await stage.share();
      const store = await shared.open();
      const data = {
        definition_id: "order",
        status: "DONE",
        deferred: [{ id: "e", kind: "K" }],
        version: 1,
        extra: [1],
      };
      await put(shared, "a", JSON.stringify(data));
      const expected = { ...order("a"), status: "DONE", deferred: [EVENT], version: 1, extra: [1] };
      sameText(await store.load("a"), expected);
      equal(await store.loadForEvent("a", "e"), [expected, false]);
      await store.save((await store.load("a"))!);
      sameText(await store.load("a"), { ...expected, version: 2 });
      await shared.place.run('INSERT INTO outbox (event) VALUES (\'{"id": "e", "kind": "K", "more": {}}\')');
      sameText((await store.pendingOutbox())[0]?.event, { ...EVENT, more: {} });
    }),

    scenario("L7 stored text that is no Execution is a RecordInvalid that names it, not its text", async (stage) => {
      const shared = await stage.share();
      const store = await shared.open();
      const texts = [
        "",
        "4711{",
        "[4711]",
        '"4711"',
        "{}",
        '{"definition_id": 4711}',
        '{"definition_id":"d","status":"4711"}',
      ];
      for (const [i, text] of texts.entries()) {
        await put(shared, `bad${i}`, text);
        for (const run of [() => store.load(`bad${i}`), () => store.loadForEvent(`bad${i}`, "e")]) {
          const error = await fails(RecordInvalid, { code: "record-invalid" }, run, text);
          ok(error.message.includes(`Execution bad${i}`), `names the Execution: ${error.message}`);
          ok(!error.message.includes("4711"), `the message tells no value: ${error.message}`);
        }
      }
    }),

    scenario(
      "L7 numbers that would lose digits are refused with their path, the others keep every digit",
      async (stage) => {
        const shared = await stage.share();
        const store = await shared.open();
        for (const [i, [text, path]] of LOSSY.entries()) {
          await put(shared, `lossy${i}`, `{"definition_id": "order", ${text.slice(1)}`);
          const error = await fails(RecordInvalid, { path }, () => store.load(`lossy${i}`), text);
          ok(error.message.startsWith(`Execution lossy${i} at `), error.message);
        }
        const kept =
          '{"wide":9007199254740994,"text":"9007199254740993","float":0.1000000000000000055,"last":9007199254740991}';
        await put(shared, "kept", `{"id": "kept", "definition_id": "order", "version": 1, "context": ${kept}}`);
        await store.save((await store.load("kept"))!);
        const [row] = await shared.place.rows(
          "SELECT json_extract(data, '$.context') FROM executions WHERE id = 'kept'",
          1,
        );
        equal(row, [kept.replace("0.1000000000000000055", "0.1")]);
      },
    ),

    scenario("L7 a number that would lose digits in a queue row or trace step is refused too", async ({ share }) => {
      const { place, open } = await share();
      const store = await open();
      await place.run("INSERT INTO trace VALUES ('a', 0, '{\"n\": [9007199254740993], \"x\": NaN}')");
      await place.run('INSERT INTO outbox (event) VALUES (\'{"kind": "K", "data": {"n": 9007199254740993}}\')');
      await place.run("INSERT INTO spawns VALUES (1, 'a', 'c', '', '{\"n\": 9007199254740993}')");
      await fails(RecordInvalid, { path: ["n", 0] }, () => store.readTrace("a"));
      await fails(RecordInvalid, { path: ["data", "n"] }, () => store.pendingOutbox());
      await fails(RecordInvalid, { path: ["n"] }, () => store.pendingSpawns());
    }),
  ],
};
