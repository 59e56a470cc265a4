// What reading the caller's values may meet: keys that JSON has no place for, and code of the caller's that throws (L7).
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { prepareCommit } from "../store/prepared.ts";
import {
  decodeExecution,
  encodeEmit,
  encodeExecution,
  encodeSpawn,
  encodeTimer,
  encodeTrace,
  newExecution,
} from "./codec.ts";
import type { JsonObject } from "./json.ts";
import type { ExecutionInput } from "./structs.ts";
import { invalid } from "./testing.ts";

describe("what JSON would leave out, and what throws", () => {
  const secret = new Error("4711");
  const fail = (): never => {
    throw secret;
  };
  const bare = { id: "i", definition_id: "d" };
  const getter = (key: string, get: () => unknown) => Object.defineProperty({}, key, { enumerable: true, get });
  const EVENT = { id: "e", kind: "K" };

  test.each<[string, object, (string | number)[]]>([
    ["an Execution", { ...bare, [Symbol("mine")]: 1 }, ["Symbol(mine)"]],
    ["a deferred event", { ...bare, deferred: [{ ...EVENT, [Symbol("mine")]: 1 }] }, ["deferred", 0, "Symbol(mine)"]],
    ["the deferred events", { ...bare, deferred: Object.assign([EVENT], { more: 1 }) }, ["deferred", "more"]],
    ["no deferred events", { ...bare, deferred: Object.assign([], { more: 1 }) }, ["deferred", "more"]],
    [
      "the children",
      { ...bare, children: { c: { root_path: "R" }, [Symbol("mine")]: 1 } },
      ["children", "Symbol(mine)"],
    ],
    ["no children", { ...bare, children: { [Symbol("mine")]: 1 } }, ["children", "Symbol(mine)"]],
    ["invoke_seq", { ...bare, invoke_seq: { [Symbol("mine")]: 1 } }, ["invoke_seq", "Symbol(mine)"]],
  ])("L7 a key of %s that JSON has no place for is refused", (_, exe, path) => {
    expect(invalid(() => encodeExecution(exe as ExecutionInput)).path).toEqual(path);
    expect(invalid(() => newExecution(exe as ExecutionInput)).path).toEqual(path);
  });

  test("L7 symbols that are not enumerable are no data", () => {
    const context = Object.defineProperty({ list: [1] }, Symbol("hidden"), { value: 1 });
    Object.defineProperty(context.list, Symbol("hidden"), { value: 1 });
    expect(encodeExecution({ ...bare, context }).data).toContain('"context":{"list":[1]}');
  });

  test("L7 an element that is not enumerable is there all the same, and hides no key behind it", () => {
    const list = Object.defineProperty([1, 2], 1, { enumerable: false });
    expect(encodeExecution({ ...bare, context: { list } }).data).toContain('"list":[1,2]');
    Object.assign(list, { more: 1 });
    expect(invalid(() => encodeExecution({ ...bare, context: { list } })).path).toEqual(["context", "list", "more"]);
  });

  test("L8 values of another realm, as of an iframe, are plain like ours; instances of its classes are not", () => {
    const text =
      '{"id":"i","definition_id":"d","context":{"list":[[],{"a":[null]}]},"deferred":[{"id":"e","kind":"K"}]}';
    const foreign = runInNewContext(`(${text})`) as ExecutionInput;
    expect(foreign).not.toBeInstanceOf(Object);
    expect(encodeExecution(foreign)).toEqual(encodeExecution(JSON.parse(text) as ExecutionInput));
    const context = runInNewContext("({ list: new (class extends Array {})(1, 2) })") as JsonObject;
    expect(invalid(() => encodeExecution({ ...bare, context })).path).toEqual(["context", "list"]);
  });

  test("L7 text with a backslash before what looks like half a surrogate is only text", () => {
    const context = { "\\udead": ["C:\\udata", "\ud83d\ude00", "\\ud83d"] };
    expect(decodeExecution("i", encodeExecution({ ...bare, context }).data).context).toEqual(context);
  });

  test.each<[string, object, (string | number)[]]>([
    ["an Execution's field", Object.assign(getter("outcome", fail), bare), ["outcome"]],
    ["its id", Object.assign(getter("id", fail), { definition_id: "d" }), ["id"]],
    ["a key of its own", Object.assign(getter("mine", fail), bare), ["mine"]],
    ["all its fields", new Proxy(bare, { get: fail }), ["id"]],
    ["its keys", new Proxy(bare, { ownKeys: fail }), []],
    ["its prototype", new Proxy(bare, { getPrototypeOf: fail }), []],
    ["its context", { ...bare, context: getter("a", fail) }, ["context", "a"]],
    ["a context that is a Proxy", { ...bare, context: new Proxy({}, { getPrototypeOf: fail }) }, ["context"]],
    ["a deferred event", { ...bare, deferred: [EVENT, getter("kind", fail)] }, ["deferred", 1, "kind"]],
    ["the list of them", { ...bare, deferred: new Proxy([EVENT], { get: fail }) }, ["deferred", 0]],
    ["a child", { ...bare, children: getter("c", fail) }, ["children", "c"]],
    ["a number", { ...bare, invoke_seq: getter("p", fail) }, ["invoke_seq"]],
  ])("L7 %s that throws is told by its path, with what it threw", (_, exe, path) => {
    const error = invalid(() => encodeExecution(exe as ExecutionInput));
    expect(error.path).toEqual(path);
    expect(error.cause).toBe(secret);
    expect(error.message).not.toContain("4711");
  });

  test("L7 a getter that throws when it is asked again is told of", () => {
    let times = 0;
    const context = getter("a", () => (++times > 1 ? fail() : 1)) as JsonObject;
    expect(invalid(() => encodeExecution({ ...bare, context })).cause).toBe(secret);
  });

  test("L7 a toJSON is refused and never called", () => {
    let calls = 0;
    const toJSON = (): number => ++calls;
    for (const context of [{ toJSON }, Object.defineProperty({}, "toJSON", { value: toJSON })]) {
      expect(invalid(() => encodeExecution({ ...bare, context })).path).toEqual(["context", "toJSON"]);
    }
    const trace = Object.defineProperty({}, "toJSON", { value: toJSON });
    expect(invalid(() => encodeTrace(trace, "commit", ["trace"])).path).toEqual(["trace", "toJSON"]);
    expect(encodeTrace({ toJSON: "text" }, "commit")).toBe('{"toJSON":"text"}');
    expect(calls).toBe(0);
  });

  test("L7 effects that throw are told by their path", () => {
    const cause = (run: () => unknown): [unknown, unknown] => {
      const error = invalid(run);
      return [error.path, error.cause];
    };
    const emit = getter("event", fail) as never;
    expect(cause(() => encodeEmit(emit, ["emits", 0]))).toEqual([["emits", 0, "event"], secret]);
    const data = { kind: "K", data: getter("a", fail) as JsonObject };
    expect(cause(() => encodeEmit({ event: data }, ["emits", 0]))).toEqual([
      ["emits", 0, "event", "data", "a"],
      secret,
    ]);
    expect(cause(() => encodeSpawn(getter("child_id", fail) as never, []))).toEqual([["child_id"], secret]);
    expect(cause(() => encodeTimer(getter("op", fail) as never, []))).toEqual([["op"], secret]);
    expect(cause(() => prepareCommit(newExecution(bare), getter("emits", fail)))).toEqual([["emits"], secret]);
    const emits = new Proxy([], { get: fail });
    expect(cause(() => prepareCommit(newExecution(bare), { emits }))).toEqual([["emits", 0], secret]);
    expect(cause(() => encodeTrace(new Proxy({}, { ownKeys: fail }), "commit", ["trace"]))).toEqual([
      ["trace"],
      secret,
    ]);
  });
});
