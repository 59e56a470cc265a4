// What the contract suite cannot show under any runner: a listener's own error, and adapters that tell by themselves.
import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { memoryAdapter } from "../../adapters/memory.ts";
import { Fenced, StoreClosed } from "../errors.ts";
import { newExecution } from "../records/codec.ts";
import type { Change } from "../port.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { StoreChange } from "./subscribers.ts";

const exe = () => newExecution({ id: "a", definition_id: "order" });

test("L1 a listener that throws harms neither the commit nor the next listener, and its error is not swallowed", async () => {
  const store = await SqliteStore.create(memoryAdapter());
  const problem = new Error("theirs");
  let told = 0;
  store.subscribe(() => {
    throw problem;
  });
  store.subscribe(() => told++);
  const later: (() => void)[] = [];
  const spy = vi.spyOn(globalThis, "queueMicrotask").mockImplementation((run) => void later.push(run));
  try {
    store.save(exe());
  } finally {
    spy.mockRestore();
  }
  expect([told, store.load("a")?.version]).toEqual([1, 1]);
  expect(later.length).toBe(1);
  expect(later[0]).toThrow(problem);
});

test("an adapter that can tell hears of every flush, and is watched only while somebody listens", async () => {
  const announced: Change[] = [];
  const watchers = new Set<(change: Change) => void>();
  const store = await SqliteStore.create({
    ...memoryAdapter(),
    announce: (change) => void announced.push(change),
    watch: (listener) => {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
  });
  expect(announced).toEqual([]);
  store.save(exe());
  expect(announced).toEqual([{ kinds: ["executions"], executionIds: ["a"] }]);
  expect(watchers.size).toBe(0);
  const seen: StoreChange[] = [];
  const end = store.subscribe((change) => seen.push(change));
  store.subscribe(() => {});
  expect(watchers.size).toBe(1);
  for (const watcher of watchers) watcher({ kinds: ["timers"], executionIds: null });
  expect(seen).toEqual([{ origin: "remote", kinds: ["timers"], executionIds: null }]);
  end();
  expect(watchers.size).toBe(1);
  store.close();
  expect(watchers.size).toBe(0);
});

test("L4 news that nobody told of is told when it is seen; news that somebody told of is not told twice", async () => {
  const inner = memoryAdapter();
  const watchers = new Set<(change: Change) => void>();
  let isNews = false;
  const store = await SqliteStore.create({
    ...inner,
    pull(position, pages) {
      if (!isNews) return inner.pull(position, pages);
      isNews = false;
      return { position, delta: { pageSize: pages.pageSize, pageCount: pages.pageCount, pages: new Map() } };
    },
    watch: (listener) => {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
  });
  const seen: StoreChange["executionIds"][] = [];
  store.subscribe(({ executionIds }) => seen.push(executionIds));
  const change: Change = { kinds: ["timers"], executionIds: ["a"] };
  for (const watcher of watchers) watcher(change);
  isNews = true;
  store.load("a");
  expect(seen).toEqual([["a"]]);
  isNews = true;
  store.load("a");
  expect(seen).toEqual([["a"], null]);
  // Told too late: it was seen already, and what comes next is another matter.
  for (const watcher of watchers) watcher(change);
  store.load("a");
  isNews = true;
  store.load("a");
  expect(seen).toEqual([["a"], null, ["a"], null]);
});

test("a listener that closes the store when it is told of news: a write that was fenced ends there", async () => {
  const inner = memoryAdapter();
  let isFenced = false;
  const store = await SqliteStore.create({
    ...inner,
    pull(position, pages) {
      if (!isFenced) return inner.pull(position, pages);
      return { position, delta: { pageSize: pages.pageSize, pageCount: pages.pageCount, pages: new Map() } };
    },
    append(delta, after) {
      if (isFenced) throw new Fenced("here");
      return inner.append(delta, after);
    },
  });
  store.subscribe(() => store.close());
  isFenced = true;
  expect(() => store.save(exe())).toThrow(StoreClosed);
});

test.each(["the store is closed", "it ends", "it aborts"])(
  "a subscription leaves nothing on its signal when %s",
  async (how) => {
    const store = await SqliteStore.create(memoryAdapter());
    const controller = new AbortController();
    const { signal } = controller;
    const ends = [store.subscribe(() => {}, { signal }), store.subscribe(() => {}, { signal })];
    expect(getEventListeners(signal, "abort").length).toBe(2);
    if (how === "it ends") for (const end of ends) end();
    else if (how === "it aborts") controller.abort();
    else store.close();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    store.close();
  },
);
