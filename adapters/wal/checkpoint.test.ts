// The log moves into the base a slice at a time (L6), page 1 last, and after a failure from the start.
import { expect, test } from "vitest";
import type { Pages } from "../../src/port.ts";
import type { Base } from "./base.ts";
import { Checkpoint } from "./checkpoint.ts";
import { runBlocking } from "./program.ts";
import { startLog } from "./wal.ts";

const PAGES: Pages = { pageSize: 512, pageCount: 2000, page: () => new Uint8Array(512) };
const pagesTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);

/** A base that remembers what it was given, and may fail. */
function recorder() {
  const written: number[][] = [];
  const state = { syncs: 0, isSick: false };
  const flush = (): void => {
    if (state.isSick) throw new Error("sick");
    state.syncs++;
  };
  const base = {
    write: (numbers: readonly number[]) => void written.push([...numbers]),
    trim: () => {},
    *sync() {
      yield { kind: "sync", file: { sync: flush } };
    },
  } as unknown as Base;
  return { base, written, state };
}

const advance = (checkpoint: Checkpoint, base: Base, everything = false): boolean =>
  runBlocking(checkpoint.advance(base, PAGES, everything));

/** What one call copied. */
function slice(
  checkpoint: Checkpoint,
  { base, written }: ReturnType<typeof recorder>,
): { done: boolean; pages: number[] } {
  written.length = 0;
  const done = advance(checkpoint, base);
  return { done, pages: written.flat() };
}

function begun(frames: number): Checkpoint {
  const checkpoint = new Checkpoint(frames);
  checkpoint.note(pagesTo(frames));
  return checkpoint;
}

test("L6 a commit copies a bounded slice however much waits, though all of it changed before it began", () => {
  const recorded = recorder();
  const checkpoint = begun(1000);
  expect(checkpoint.isDue({ ...startLog(512, 0, 0, 0), frames: 999 }, PAGES)).toBe(false);
  expect(checkpoint.isDue({ ...startLog(512, 0, 0, 0), frames: 1000 }, PAGES)).toBe(true);
  const seen: number[] = [];
  for (let calls = 1; ; calls++) {
    const { done, pages } = slice(checkpoint, recorded);
    seen.push(...pages);
    // The last one takes what is left of a slice, and page 1, besides its own.
    expect(pages.length).toBeLessThanOrEqual(done ? 2 * 64 + 1 : 64);
    if (done) break;
    expect(recorded.state.syncs).toBe(0);
    expect(calls).toBeLessThan(1000 / 64);
  }
  expect(seen.at(-1)).toBe(1);
  expect(seen).toEqual([...pagesTo(1000).slice(1), 1]);
  expect(recorded.state.syncs).toBe(1);
});

test("L6 a long checkpoint makes durable what it copied bit by bit, so that its end is no longer than a short one's", () => {
  const recorded = recorder();
  const checkpoint = begun(1900);
  checkpoint.isDue(startLog(512, 0, 0, 0), PAGES);
  let unsynced = 0;
  for (let done = false; !done;) {
    const { syncs } = recorded.state;
    const copied = slice(checkpoint, recorded);
    ({ done } = copied);
    unsynced = recorded.state.syncs > syncs && !done ? 0 : unsynced + copied.pages.length;
    expect(unsynced).toBeLessThanOrEqual(1024 + 64);
  }
  expect(recorded.state.syncs).toBe(2);
});

test("L6 a group that changes more than a slice copies twice as many, or the log would outgrow the copying", () => {
  const recorded = recorder();
  const checkpoint = begun(2000);
  checkpoint.isDue(startLog(512, 0, 0, 0), PAGES);
  checkpoint.note(pagesTo(300));
  expect(slice(checkpoint, recorded).pages).toHaveLength(600);
});

test("L5 a page that changes after it was copied is copied again", () => {
  const recorded = recorder();
  const checkpoint = begun(200);
  checkpoint.isDue(startLog(512, 0, 0, 0), PAGES);
  expect(slice(checkpoint, recorded).pages).toEqual(pagesTo(65).slice(1));
  checkpoint.note([7]);
  const rest: number[] = [];
  for (let done = false; !done;) {
    const copied = slice(checkpoint, recorded);
    rest.push(...copied.pages);
    ({ done } = copied);
  }
  expect(rest.filter((number) => number <= 65).sort((a, b) => a - b)).toEqual([1, 7]);
});

test("L2 after a sync that failed every page counts as not copied", () => {
  const recorded = recorder();
  const checkpoint = begun(50);
  recorded.state.isSick = true;
  expect(() => advance(checkpoint, recorded.base)).toThrow("sick");
  expect(checkpoint.isDue({ ...startLog(512, 0, 0, 0), frames: 50 }, PAGES)).toBe(false);
  recorded.state.isSick = false;
  recorded.written.length = 0;
  expect(advance(checkpoint, recorded.base, true)).toBe(true);
  expect(recorded.written.flat()).toEqual([...pagesTo(50).slice(1), 1]);
});

test("L6 unless told otherwise it begins later in a larger database, whose pages are scattered", () => {
  const at = (frames: number) => ({ ...startLog(512, 0, 0, 0), frames });
  const checkpoint = new Checkpoint(null);
  expect(checkpoint.isDue(at(7999), PAGES)).toBe(false);
  expect(checkpoint.isDue(at(8000), PAGES)).toBe(true);
  const large = { ...PAGES, pageCount: 100_000 };
  expect(checkpoint.isDue(at(49_999), large)).toBe(false);
  expect(checkpoint.isDue(at(50_000), large)).toBe(true);
});

test("L6 pages of a database that shrank since are nothing to wait for", () => {
  const { base, written } = recorder();
  const checkpoint = begun(1000);
  const shrunk = { ...PAGES, pageCount: 10 };
  checkpoint.isDue({ ...startLog(512, 0, 0, 0), frames: 999 }, shrunk);
  expect(runBlocking(checkpoint.advance(base, shrunk, false))).toBe(true);
  expect(written.flat()).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 1]);
});
