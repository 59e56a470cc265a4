// Pages put together, as a delta or with newer ones on top, and compared.
import type { PageDelta, Pages } from "../../src/port.ts";
import type { LogPosition, Scanned } from "./wal.ts";

export function toDelta(
  pages: ReadonlyMap<number, Uint8Array>,
  pageCount: number,
  { pageSize }: LogPosition,
): PageDelta {
  return { pageSize, pageCount, pages };
}

/** `pages` with what was scanned on top. */
export function overlay(
  pages: Pages,
  { pages: newer, pageCount }: Pick<Scanned, "pages" | "pageCount"> | PageDelta,
): Pages {
  return {
    pageSize: pages.pageSize,
    pageCount: pageCount ?? pages.pageCount,
    page: (number) => newer.get(number) ?? pages.page(number),
  };
}

/** Whole pages, which are aligned: compared by words. */
export function samePage(a: Uint8Array, b: Uint8Array): boolean {
  const x = new Uint32Array(a.buffer, a.byteOffset, a.length / 4);
  const y = new Uint32Array(b.buffer, b.byteOffset, b.length / 4);
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return false;
  return true;
}
