// What fails says where and never what: a secret in every field of the user's turns up in no message, no cause and no
// field of any error, nor in what verify and salvage report.
import { expect, test } from "vitest";
import { everything } from "../src/contract/samples.ts";
import { Faults, withFaults } from "../src/contract/faults.ts";
import { SharedPlace } from "../src/contract/shared-place.ts";
import type { Json, JsonObject } from "../src/records/json.ts";
import { memoryAdapter } from "./memory.ts";
import { type Effects, FlushFailed, newEvent, newExecution, PerdureError, salvage, SqliteStore } from "./node.ts";

const SECRET = "secret-4711";
/** What JSON cannot carry, with the secret beside it and, where it can be, within it. */
const BAD: readonly unknown[] = [
  NaN,
  undefined,
  10n ** 20n + 4711n,
  Symbol(SECRET),
  new Date(4711),
  new Map([[SECRET, SECRET]]),
  () => SECRET,
  `${SECRET}\ud800`,
  new Error(SECRET),
  new Uint8Array([47, 11]),
];

/** Everything that can be read off an error, its causes and their fields included. */
function everythingOf(error: unknown): string {
  const parts: string[] = [];
  for (let one = error; one !== undefined && one !== null; one = (one as Error).cause) {
    const { stack, message } = one as Error;
    // Of the stack the first line only: the rest is the code, and this file has the secret in it.
    parts.push(String(stack).split("\n    at ")[0]!, message, JSON.stringify(one));
    for (const key of Object.getOwnPropertyNames(one)) {
      if (key !== "stack" && key !== "cause") parts.push(JSON.stringify((one as unknown as JsonObject)[key]) ?? "");
    }
  }
  return parts.join("\n");
}

function expectSilence(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(PerdureError);
    expect(everythingOf(error)).not.toContain("4711");
    return;
  }
  throw new Error("it should have failed");
}

const exe = (more: object = {}) => ({
  ...newExecution({ id: "a", definition_id: "order", context: { note: SECRET }, outcome: SECRET, error: SECRET }),
  ...more,
});

test("L7 a record that is refused tells its path, and no value", async () => {
  const store = await SqliteStore.create();
  for (const bad of BAD) {
    const json = { fine: SECRET, list: [SECRET, bad] } as unknown as JsonObject;
    const event = { ...newEvent({ kind: "K" }), data: json };
    expectSilence(() => store.save(exe({ context: json })));
    expectSilence(() => store.save(exe({ history: json })));
    expectSilence(() => store.save(exe({ deferred: [event] })));
    expectSilence(() => store.save(exe({ children: { c: { root_path: "", result: json } } })));
    for (const effects of [
      { emits: [{ event }] },
      { spawns: [{ child_id: "c", context: json }] },
      { trace: json },
      { timers: [{ op: "schedule", path: "p", fire_at: bad }] },
    ] as unknown as Effects[]) {
      expectSilence(() => store.commit(exe(), effects));
    }
    expectSilence(() => store.appendTrace("a", json));
  }
  const fields = Object.keys(newExecution({ definition_id: "order" }));
  for (const field of fields) {
    for (const bad of [Symbol(SECRET), [SECRET], { [Symbol.toPrimitive]: () => SECRET }, 4711.5, -4711]) {
      const isFine = (value: unknown): boolean => {
        try {
          newExecution({ definition_id: "order", [field]: value as Json });
          return true;
        } catch {
          return false;
        }
      };
      if (!isFine(bad)) expectSilence(() => store.save(exe({ [field]: bad })));
    }
  }
  expectSilence(() => store.listExecutions({ status: SECRET as never }));
  expectSilence(() => store.dueTimers(SECRET as never));
  store.close();
});

test("L7 what is stored and cannot be read, or is in the way, tells no value", async () => {
  const place = await SharedPlace.on(memoryAdapter());
  const store = await SqliteStore.create(place.syncPort());
  store.commit(exe(), everything("x"));
  const stored = exe();
  await place.run(`
    UPDATE executions SET data = json_set(data, '$.context.n', 471147114711471147114711, '$.priority', '${SECRET}');
    UPDATE outbox SET event = '{"kind":4711,"data":"${SECRET}"}';
    UPDATE spawns SET context = '["${SECRET}"';
    UPDATE trace SET entry = '"${SECRET}"';
    CREATE TRIGGER stop BEFORE INSERT ON timers BEGIN SELECT RAISE(ABORT, 'stopped'); END;
  `);
  expectSilence(() => store.load("a"));
  expectSilence(() => store.loadForEvent("a", "e"));
  expectSilence(() => store.pendingOutbox());
  expectSilence(() => store.pendingSpawns());
  expectSilence(() => store.readTrace("a"));
  expectSilence(() => store.save(stored)); // a conflict
  expectSilence(() => store.commit({ ...exe(), id: "b" }, everything("y"))); // the trigger
  expect(JSON.stringify(store.verify())).not.toContain("4711");
  await place.damage("executions");
  expectSilence(() => store.load("a"));
  const { lost, problems } = await salvage(
    { database: store.exportDatabase(), wal: null },
    (await SharedPlace.on(memoryAdapter())).asyncPort(),
  );
  expect(lost.length).toBeGreaterThan(0);
  expect(JSON.stringify([lost, problems])).not.toContain("4711");
  store.close();
});

test("L7 a flush that fails, and a store that is closed, tell no value", async () => {
  const faults = new Faults();
  const store = await SqliteStore.create(withFaults(memoryAdapter(), faults));
  faults.failing.append.push(new FlushFailed("place", Object.assign(new Error("no"), { code: "EIO" })));
  expectSilence(() => store.commit(exe(), everything("x")));
  store.close();
  expectSilence(() => store.commit(exe(), everything("x")));
});
