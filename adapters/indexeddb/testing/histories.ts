// What may become of a database page by page, made up by fast-check.
import fc from "fast-check";
import type { Image } from "../../../src/engine/image.ts";
import type { PageDelta } from "../../../src/port.ts";

export const PAGE_SIZE = 512;

const bytes = fc.uint8Array({ minLength: PAGE_SIZE, maxLength: PAGE_SIZE });
/** Pages as SQLite has them: much of it zeros, and little of it changed. */
const sparse = fc
  .array(fc.record({ at: fc.nat(PAGE_SIZE - 9), with: fc.uint8Array({ minLength: 1, maxLength: 8 }) }), {
    maxLength: 6,
  })
  .map((changes) => {
    const made = new Uint8Array(PAGE_SIZE);
    for (const change of changes) made.set(change.with, change.at);
    return made;
  });
export const page: fc.Arbitrary<Uint8Array> = fc.oneof(bytes, sparse);

/** A step of a history: pages written, and how many there are afterwards. */
export interface Step {
  readonly pageCount: number;
  readonly written: readonly { readonly number: number; readonly page: Uint8Array }[];
  readonly reopen: boolean;
}

export const step: fc.Arbitrary<Step> = fc.record({
  pageCount: fc.integer({ min: 1, max: 1600 }),
  written: fc.array(fc.record({ number: fc.integer({ min: 1, max: 1600 }), page }), { maxLength: 4 }),
  reopen: fc.boolean(),
});

/** Takes a step: what is to be appended then, or null. */
export function take(image: Image, { pageCount, written }: Step): PageDelta | null {
  image.truncate(pageCount);
  for (const { number, page: content } of written) if (number <= pageCount) image.write(number, content);
  return image.delta();
}
