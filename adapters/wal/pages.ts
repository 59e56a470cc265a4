// Pages put together: as a delta, or with newer ones on top.
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
