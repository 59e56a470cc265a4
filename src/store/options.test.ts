// What is not understood is refused, never ignored (L7): options, effects, filters, and what is no place at all.
import { expect, test } from "vitest";
import { memoryAdapter } from "../../adapters/memory.ts";
import { RecordInvalid } from "../errors.ts";
import { newExecution } from "../records/codec.ts";
import { AsyncSqliteStore } from "./async-sqlite-store.ts";
import { providePlatform } from "./locations.ts";
import { SqliteStore } from "./sqlite-store.ts";

providePlatform({ memory: memoryAdapter, openSync: null, openAsync: null });

const BAD_OPTIONS: readonly [object, string][] = [
  [{ durabilty: "strict" }, "durabilty"],
  [{ durability: "fast" }, "durability"],
  [{ busyTimeout: 5 }, "busyTimeout"],
  [{ busyTimeoutMs: "5" }, "busyTimeoutMs"],
  [{ busyTimeoutMs: -1 }, "busyTimeoutMs"],
  [{ busyTimeoutMs: Number.NaN }, "busyTimeoutMs"],
  [{ must_exist: true }, "must_exist"],
  [{ mustExist: 1 }, "mustExist"],
  [{ traceMax: "x" }, "traceMax"],
  [{ traceMax: Number.NaN }, "traceMax"],
  [{ wasm: "x" }, "wasm"],
];

test.each(BAD_OPTIONS)("L7 create refuses %j", async (options, name) => {
  for (const Store of [SqliteStore, AsyncSqliteStore]) {
    const opening = Store.create(":memory:", options);
    await expect(opening).rejects.toThrow(RecordInvalid);
    await expect(Store.create(":memory:", options)).rejects.toMatchObject({ path: ["options", name] });
  }
});

test("L7 options of a place are refused beside an adapter, which has its own", async () => {
  const opening = SqliteStore.create(memoryAdapter(), { mustExist: true });
  await expect(opening).rejects.toMatchObject({ path: ["options", "mustExist"] });
});

test.each([null, 7, {}, new URL("file:///x.db"), ""])("L7 create refuses %s as a place", async (where) => {
  for (const Store of [SqliteStore, AsyncSqliteStore]) {
    await expect(Store.create(where as never)).rejects.toThrow(RecordInvalid);
  }
});

test("L7 a store is not made with new", () => {
  for (const Store of [SqliteStore, AsyncSqliteStore]) {
    const Constructor = Store as unknown as new (where: string) => unknown;
    expect(() => new Constructor("x.db")).toThrow(/await \w+\.create/);
  }
});

test.each([
  [{ emit: [] }, ["emit"]],
  [{ processed_event_id: "x" }, ["processed_event_id"]],
  [{ emits: [{ target: "x", event: { kind: "Go" } }] }, ["emits", 0, "target"]],
  [{ timers: [{ op: "cancel", path: "x", at: 5 }] }, ["timers", 0, "at"]],
  [{ spawns: [{ child_id: "x", rootPath: "" }] }, ["spawns", 0, "rootPath"]],
])("L7 commit refuses %j", async (effects, path) => {
  const store = await SqliteStore.create();
  const exe = newExecution({ definition_id: "order" });
  expect(() => store.commit(exe, effects as never)).toThrow(expect.objectContaining({ code: "record-invalid", path }));
  expect(exe.version).toBe(0);
  store.close();
});

test.each([
  [{ definition_id: "x" }, "definition_id"],
  [{ status: "running" }, "status"],
  [{ status: ["DONE", "done"] }, "status"],
  [{ rootsOnly: 1 }, "rootsOnly"],
])("L7 listExecutions refuses %j", async (options, name) => {
  const store = await SqliteStore.create();
  expect(() => store.listExecutions(options as never)).toThrow(expect.objectContaining({ path: [name] }));
  store.close();
});
