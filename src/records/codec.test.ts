// Records to text and back on their own: defaults, order of keys, hostile keys, and complaints that name the path (L1, L7).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeEvent,
  decodeExecution,
  decodeObject,
  encodeEmit,
  encodeExecution,
  encodeSpawn,
  encodeTimer,
  encodeTrace,
  newEvent,
  newExecution,
} from "./codec.ts";
import type { JsonObject } from "./json.ts";
import { type Execution, type ExecutionInput, STATUSES } from "./structs.ts";
import { invalid } from "./testing.ts";

const HEX = /^[0-9a-f]{32}$/;

describe("new records", () => {
  test("L1 newExecution and newEvent fill every default and every id", () => {
    const exe = newExecution({ definition_id: "d" });
    expect(exe.id).toMatch(HEX);
    expect(exe).toMatchObject({
      root_path: "",
      status: "PENDING",
      version: 0,
      priority: 0,
      children: {},
      deferred: [],
    });
    expect(Object.keys(exe)).toHaveLength(18);
    const event = newEvent({ kind: "K" });
    expect(event).toEqual({ id: event.id, kind: "K", created_time: null, received_time: null, data: {} });
    expect(event.id).toMatch(HEX);
    expect(newEvent({ kind: "K" }).id).not.toBe(event.id);
  });

  test("L1 defaults are fresh: two records share nothing", () => {
    const [a, b] = [newExecution({ definition_id: "d" }), newExecution({ definition_id: "d" })];
    for (const key of ["history", "context", "deferred", "children", "invoke_seq"] as const)
      expect(a[key]).not.toBe(b[key]);
    expect(newEvent({ kind: "K" }).data).not.toBe(newEvent({ kind: "K" }).data);
  });

  test("L1 the caller's input is left as it is", () => {
    const input = Object.freeze({
      definition_id: "d",
      deferred: Object.freeze([Object.freeze({ id: "e", kind: "K" })]),
    });
    const exe = newExecution(input as unknown as ExecutionInput);
    expect(exe.deferred[0]).toEqual({ id: "e", kind: "K", created_time: null, received_time: null, data: {} });
    expect(Object.keys(input.deferred[0]!)).toEqual(["id", "kind"]);
  });

  test("L1 what was made from the same lists and children shares none of them, empty ones neither", () => {
    const input = Object.freeze({ definition_id: "d", deferred: Object.freeze([]), children: Object.freeze({}) });
    const [one, other] = [newExecution(input as unknown as ExecutionInput), newExecution(input as never)];
    one.deferred.push(newEvent({ kind: "K" }));
    one.children["c"] = { root_path: "R", finished: false, outcome: null, result: {}, submachine: false, key: "" };
    expect([other.deferred, other.children]).toEqual([[], {}]);
  });

  test.each<[object, (string | number)[], string]>([
    [{}, ["definition_id"], "Execution at definition_id: is missing"],
    [{ definition_id: "d", priority: 5 }, ["priority"], "Execution at priority: expected an integer from 0 to 4"],
    [{ definition_id: "d", status: "secret" }, ["status"], "Execution at status: expected one of the statuses"],
    [
      { definition_id: "d", deferred: [{ kind: "K" }, { kind: 7 }] },
      ["deferred", 1, "kind"],
      "Execution at deferred[1].kind: expected text without U+0000 and lone surrogates",
    ],
    [
      { definition_id: "d", context: { a: [{ b: undefined }] } },
      ["context", "a", 0, "b"],
      "Execution at context.a[0].b: undefined is not JSON",
    ],
  ])("L1 newExecution(%j) is refused", (fields, path, message) => {
    const error = invalid(() => newExecution(fields as ExecutionInput));
    expect(error.path).toEqual(path);
    expect(error.message).toBe(message);
  });
});

describe("Executions as text", () => {
  test("L1 keys stand in the contract's order, unknown ones after them, the version is the next one", () => {
    const shuffled = { later: 1, version: 3, context: { z: 1, a: 2 }, definition_id: "d", "10": "ten", id: "i" };
    const { data, expected, id, definitionId } = encodeExecution(shuffled);
    expect([id, definitionId, expected]).toEqual(["i", "d", 3]);
    expect(data).toBe(
      '{"10":"ten","id":"i","definition_id":"d","definition_fqn":null,"root_path":"","status":"PENDING","outcome":null,' +
        '"error":null,"active_path":null,"history":{},"context":{"z":1,"a":2},"processed_events":0,"version":4,' +
        '"priority":0,"parent_id":null,"child_id":null,"deferred":[],"children":{},"invoke_seq":{},"later":1}',
    );
  });

  test("L8 encode and decode are inverse for any Execution", () => {
    const text = fc.string({ unit: "grapheme" });
    const id = text.filter((value) => !value.includes("\0"));
    const json = fc.dictionary(text, fc.jsonValue()) as fc.Arbitrary<JsonObject>;
    const event = fc.record({
      id,
      kind: id,
      created_time: fc.option(text),
      received_time: fc.option(text),
      data: json,
    });
    const child = fc.record({
      root_path: id,
      finished: fc.boolean(),
      outcome: fc.option(text),
      result: json,
      submachine: fc.boolean(),
      key: text,
    });
    const execution: fc.Arbitrary<Execution> = fc.record({
      id,
      definition_id: id,
      definition_fqn: fc.option(text),
      root_path: id,
      status: fc.constantFrom(...STATUSES),
      outcome: fc.option(text),
      error: fc.option(text),
      active_path: fc.option(id),
      history: json,
      context: json,
      processed_events: fc.maxSafeInteger(),
      version: fc.nat(),
      priority: fc.nat(4),
      parent_id: fc.option(id),
      child_id: fc.option(id),
      deferred: fc.array(event, { maxLength: 3 }),
      children: fc.dictionary(id, child, { maxKeys: 3 }),
      invoke_seq: fc.dictionary(id, fc.maxSafeInteger(), { maxKeys: 3 }),
    });
    fc.assert(
      fc.property(execution, (exe) => {
        const before = JSON.stringify(exe);
        const { data } = encodeExecution(exe);
        expect(JSON.stringify(exe)).toBe(before);
        const next = JSON.stringify({ ...exe, version: exe.version + 1 });
        expect(data).toBe(next);
        expect(JSON.stringify(decodeExecution(exe.id, data))).toBe(next);
      }),
    );
  });

  test("L7 a blob without an id is the row's; without more it is refused by its path", () => {
    expect(decodeExecution("row", '{"definition_id":"d"}').id).toBe("row");
    const error = invalid(() => decodeExecution("row", "{}"));
    expect(error.message).toBe("Execution row at definition_id: is missing");
  });

  test("L7 null where no null may be is no missing key", () => {
    expect(invalid(() => decodeExecution("row", '{"definition_id":"d","context":null}')).path).toEqual(["context"]);
    expect(invalid(() => decodeExecution("row", '{"id":null,"definition_id":"d"}')).path).toEqual(["id"]);
  });

  test("L7 hostile keys touch no prototype and come back as keys", () => {
    const text =
      '{"definition_id":"d","__proto__":{"status":"DONE"},"hasOwnProperty":1,"children":{"__proto__":{"root_path":"R"}}}';
    const exe = decodeExecution("row", text);
    expect(exe.status).toBe("PENDING");
    expect(Object.getPrototypeOf(exe)).toBe(Object.prototype);
    expect(Object.keys(exe)).toEqual(expect.arrayContaining(["__proto__", "hasOwnProperty"]));
    expect(Object.keys(exe.children)).toEqual(["__proto__"]);
    expect(encodeExecution(exe).data).toContain('"__proto__":{"status":"DONE"}');
    expect(encodeExecution(exe).data).toContain('"children":{"__proto__":{"root_path":"R","finished":false');
  });

  test("L7 a stored number that would lose digits is named with its Execution", () => {
    const error = invalid(() => decodeExecution("row", '{"definition_id":"d","context":{"n":[1,9007199254740993]}}'));
    expect(error.message).toBe(
      "Execution row at context.n[1]: a number that JavaScript cannot hold without losing digits",
    );
  });
});

describe("the other records", () => {
  test("L1 events and emits", () => {
    expect(decodeEvent("outbox 1", '{"kind":"K","id":"e","extra":[1]}')).toEqual({
      ...{ id: "e", kind: "K", created_time: null, received_time: null, data: {} },
      extra: [1],
    });
    expect(invalid(() => decodeEvent("outbox 1", "[]")).message).toBe("outbox 1: expected an object");
    const { target, event } = encodeEmit({ event: { kind: "K", id: "e", data: { z: 1, a: 2 } } }, ["emits", 0]);
    expect(target).toBeNull();
    expect(event).toBe('{"id":"e","kind":"K","created_time":null,"received_time":null,"data":{"z":1,"a":2}}');
    const bad = invalid(() => encodeEmit({ event: { kind: "K", data: { n: Number.NaN } } }, ["emits", 3]));
    expect(bad.message).toBe("commit at emits[3].event.data.n: NaN and Infinity are not JSON");
  });

  test("L1 spawns", () => {
    expect(encodeSpawn({ child_id: "c" }, [])).toEqual({ childId: "c", rootPath: "", context: "{}" });
    expect(invalid(() => encodeSpawn({ child_id: "c", context: null as never }, ["spawns", 0])).path).toEqual([
      "spawns",
      0,
      "context",
    ]);
  });

  test("L1 timers", () => {
    expect(encodeTimer({ op: "schedule", path: "", fire_at: -0.5 }, [])).toEqual({ path: "", fireAt: -0.5 });
    expect(encodeTimer({ op: "cancel", path: "p" }, [])).toEqual({ path: "p", fireAt: null });
    expect(invalid(() => encodeTimer(null as never, ["timers", 0])).path).toEqual(["timers", 0]);
  });

  test("L1 trace steps keep their own index; the column's comes on reading", () => {
    expect(encodeTrace({ index: 7, a: {} }, "commit", ["trace"])).toBe('{"index":7,"a":{}}');
    expect(invalid(() => encodeTrace([] as never, "commit", ["trace"])).message).toBe(
      "commit at trace: expected an object",
    );
    expect(decodeObject("trace 0 of a", '{"a": NaN}')).toEqual({ a: null });
  });
});
