// Deltas as records, and back: whatever changed, page by page, is what comes out; and blocks, log and replay together give
// the pages that were written, however the database grew, shrank and was folded (L2, L7).
import fc from "fast-check";
import { expect, test } from "vitest";
import { ImageCorrupt } from "../../src/errors.ts";
import type { AsyncAdapter, PageDelta, Pages, Position } from "../../src/port.ts";
import { Image } from "../../src/engine/image.ts";
import { adapterOn } from "./adapter.ts";
import { checksum, wordsOf } from "./checksum.ts";
import { applyDelta, checkPages, encodeDelta, type Expected } from "./record.ts";
import { page, PAGE_SIZE, step, take } from "./testing/histories.ts";
import { Site } from "./testing/site.ts";

test("L2 a record gives back what each page became, from what it was", () => {
  const known = fc.constantFrom("before", "new", "unknown");
  fc.assert(
    fc.property(fc.array(fc.record({ was: page, is: page, known }), { minLength: 1, maxLength: 5 }), (changes) => {
      const kinds = new Set(changes.map((change) => change.known));
      const delta: PageDelta = {
        pageSize: PAGE_SIZE,
        pageCount: changes.length,
        pages: new Map(changes.map(({ is }, i) => [i + 1, is])),
        ...(kinds.has("unknown")
          ? {}
          : { before: (number) => (changes[number - 1]!.known === "new" ? null : changes[number - 1]!.was) }),
      };
      const body = encodeDelta(delta).slice();
      const pages = changes.map(({ was, known: how }) => (how === "new" ? new Uint8Array(PAGE_SIZE) : was.slice()));
      const expected: Expected = new Map();
      applyDelta(body, 1, (number) => wordsOf(pages[number - 1]!), expected);
      expect(pages).toEqual(changes.map(({ is }) => is));
      checkPages(expected, (number) => wordsOf(pages[number - 1]!), "place");
      pages[0]![3]! ^= 1;
      expect(() => checkPages(expected, (number) => wordsOf(pages[number - 1]!), "place")).toThrow(ImageCorrupt);
    }),
  );
});

test("a checksum tells any one bit, and lengths", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 4, maxLength: 64 }), fc.nat(), (some, where) => {
      const words = wordsOf(some.slice(0, some.length & ~3));
      const sum = checksum(words);
      const bit = where % (words.length * 32);
      const changed = words.slice();
      changed[bit >> 5]! ^= 1 << (bit & 31);
      expect(checksum(changed)).not.toBe(sum);
      expect(checksum(new Uint32Array([...words, 0]))).not.toBe(sum);
    }),
  );
});

test("L2 L7 grown, shrunk, folded and reopened, another store finds the same pages", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(1, 375, 2500),
      async (steps, foldBytes) => {
        const site = new Site();
        const open = (): AsyncAdapter => adapterOn(site.tab(), "store", { foldBytes });
        let writer = open();
        const follower = open();
        let { position } = await writer.load();
        let seen: Position = (await follower.load()).position;
        const image = new Image({ pageSize: PAGE_SIZE, pageCount: 0, chunks: [] });
        const follows = new Image({ pageSize: PAGE_SIZE, pageCount: 0, chunks: [] });
        for (const one of steps) {
          const delta = take(image, one);
          if (delta === null) continue;
          position = await writer.append(delta, position);
          image.settle();
          await writer.checkpoint(image);
          const news = (await follower.pull(seen, follows))!;
          seen = news.position;
          if (news.delta === undefined) follows.replace(news.image);
          else follows.apply(news.delta);
          same(follows, image);
          if (!one.reopen) continue;
          await writer.close(null);
          writer = open();
          const loaded = await writer.load();
          ({ position } = loaded);
          same(new Image(loaded), image);
        }
        await writer.close(null);
        await follower.close(null);
      },
    ),
    { numRuns: 40 },
  );
});

function same(a: Pages, b: Pages): void {
  expect(a.pageCount).toBe(b.pageCount);
  for (let number = 1; number <= b.pageCount; number++) {
    if (checksum(wordsOf(a.page(number))) !== checksum(wordsOf(b.page(number))))
      expect(a.page(number)).toEqual(b.page(number));
  }
}
