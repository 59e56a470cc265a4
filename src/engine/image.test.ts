// The image against a model of it, driven by random steps: whatever was written, cut, flushed, undone and settled, it
// holds the same bytes, undoes to the same bytes, and the deltas alone rebuild it elsewhere.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHUNK_BYTES, type PageDelta, type Pages } from "../port.ts";
import { Image } from "./image.ts";
import { emptyImage } from "./testing.ts";

/** The largest page, so that a chunk is full after sixteen. */
const PAGE = 65536;
/** Pages up to this one are written: a little more than a chunk. */
const LAST = 20;

/** What an image should be: plain pages now, when the flush began that is under way, and at the last settle. */
interface Model {
  now: Uint8Array[];
  flying: { readonly pages: Uint8Array[]; readonly delta: PageDelta | null } | null;
  settled: Uint8Array[];
}

const filledWith = (byte: number): Uint8Array => new Uint8Array(PAGE).fill(byte);
const pagesOf = (image: Pages): Uint8Array[] => Array.from({ length: image.pageCount }, (_, i) => image.page(i + 1));
/** By value and fast: a page at a time through memcmp. */
const same = (one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean =>
  one.length === other.length && one.every((page, i) => Buffer.compare(page, other[i]!) === 0);
/** As an adapter hands a delta on: bytes of its own. */
const sent = (delta: PageDelta): PageDelta => ({
  ...delta,
  pages: new Map([...delta.pages].map(([number, bytes]) => [number, bytes.slice()])),
});

type Step = { readonly name: string; run(image: Image, model: Model, replica: Image): void };

const write = fc
  .tuple(fc.integer({ min: 1, max: LAST }), fc.integer({ min: 1, max: 255 }))
  .map(([number, byte]): Step => ({
    name: `write(${number}, ${byte})`,
    run(image, { now }) {
      image.write(number, filledWith(byte));
      while (now.length < number) now.push(filledWith(0));
      now[number - 1] = filledWith(byte);
    },
  }));
const truncate = fc.integer({ min: 0, max: LAST }).map((count): Step => ({
  name: `truncate(${count})`,
  run(image, { now }) {
    image.truncate(count);
    now.splice(count);
    while (now.length < count) now.push(filledWith(0));
  },
}));
const rollBack: Step = {
  name: "rollBack",
  run(image, model) {
    image.rollBack();
    model.now = [...(model.flying?.pages ?? model.settled)];
    expect(image.delta()).toBeNull();
  },
};
const undo: Step = {
  name: "undo",
  run(image, model) {
    image.undo();
    model.now = [...model.settled];
    model.flying = null;
    expect(image.delta()).toBeNull();
  },
};
const beginFlush: Step = {
  name: "beginFlush",
  run(image, model) {
    if (model.flying !== null) return;
    const delta = image.delta();
    image.beginFlush();
    model.flying = { pages: [...model.now], delta };
    expect(image.delta()).toBeNull();
  },
};
const settle: Step = {
  name: "settle",
  run(image, model, replica) {
    // The bytes of a flush under way are those from when it began.
    const delta = model.flying === null ? image.delta() : model.flying.delta;
    const settled = model.flying?.pages ?? model.now;
    if (delta !== null) {
      expect([...delta.pages.keys()]).toEqual([...delta.pages.keys()].sort((a, b) => a - b));
      replica.apply(sent(delta));
    }
    image.settle();
    model.settled = [...settled];
    model.flying = null;
    expect(same(pagesOf(replica), settled)).toBe(true);
  },
};
const replace: Step = {
  name: "replace",
  run(image, model, replica) {
    undo.run(image, model, replica);
    const chunks = [new Uint8Array(CHUNK_BYTES).fill(9)];
    for (const one of [image, replica])
      one.replace({ pageSize: PAGE, pageCount: 3, chunks: chunks.map((c) => c.slice()) });
    model.now = [filledWith(9), filledWith(9), filledWith(9)];
    model.settled = [...model.now];
  },
};
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: write },
    { weight: 3, arbitrary: truncate },
    { weight: 4, arbitrary: fc.constant(settle) },
    { weight: 3, arbitrary: fc.constant(beginFlush) },
    { weight: 2, arbitrary: fc.constant(rollBack) },
    { weight: 2, arbitrary: fc.constant(undo) },
    { weight: 1, arbitrary: fc.constant(replace) },
  ),
  { maxLength: 40, size: "max" },
);

describe("image", () => {
  test("L1: any steps leave what the model says, now, after undo, and in a replica built from deltas", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const [image, replica] = [new Image(emptyImage(PAGE)), new Image(emptyImage(PAGE))];
        const model: Model = { now: [], flying: null, settled: [] };
        for (const step of all) {
          step.run(image, model, replica);
          expect(same(pagesOf(image), model.now), step.name).toBe(true);
          expect(same(pagesOf(image.durable), model.settled), `durable after ${step.name}`).toBe(true);
        }
        image.undo();
        expect(same(pagesOf(image), model.settled)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test("reads any stretch, across chunks, and stops at the end", () => {
    const image = new Image(emptyImage(512));
    const count = CHUNK_BYTES / 512 + 3;
    for (let number = 1; number <= count; number++) image.write(number, new Uint8Array(512).fill(number % 251));
    const expected = Buffer.concat(pagesOf(image));
    fc.assert(
      fc.property(fc.nat(expected.length + 600), fc.nat(3000), (offset, length) => {
        const target = new Uint8Array(length);
        const read = image.read(offset, target);
        const part = expected.subarray(offset, offset + length);
        expect(read).toBe(part.length);
        expect(Buffer.compare(target.subarray(0, read), part)).toBe(0);
      }),
    );
  });

  test("undo after a large transaction, twice: kept buffers are used again without mixing pages up", () => {
    const image = new Image(emptyImage(512));
    for (let number = 1; number <= 5000; number++) image.write(number, new Uint8Array(512).fill(number % 251));
    image.settle();
    const before = Buffer.concat(pagesOf(image));
    for (let round = 1; round <= 2; round++) {
      for (let number = 5000; number > 0; number--) image.write(number, new Uint8Array(512).fill(252 + round));
      image.truncate(10);
      image.undo();
      expect(Buffer.compare(Buffer.concat(pagesOf(image)), before)).toBe(0);
    }
  });

  test("L6: settling a transaction of 300,000 pages works", () => {
    const image = new Image(emptyImage(512));
    const page = new Uint8Array(512);
    for (let number = 1; number <= 300_000; number++) image.write(number, page);
    image.settle();
    for (let number = 1; number <= 300_000; number++) image.write(number, page);
    image.settle();
    expect(image.delta()).toBeNull();
  });
});
