// Pages put together: as a delta, with newer ones on top, or out of a loaded image.
import { CHUNK_BYTES, type LoadedImage, type PageDelta, type Pages } from "../../src/port.ts";
import type { LogPosition, Scanned } from "./wal.ts";

export function toDelta(
  pages: ReadonlyMap<number, Uint8Array>,
  pageCount: number,
  { pageSize }: LogPosition,
): PageDelta {
  return { pageSize, pageCount, pages };
}

/** `pages` with what was scanned on top. */
export function overlay(pages: Pages, { pages: newer, pageCount }: Scanned): Pages {
  return {
    pageSize: pages.pageSize,
    pageCount: pageCount ?? pages.pageCount,
    page: (number) => newer.get(number) ?? pages.page(number),
  };
}

/** A loaded image to copy from. */
export function pagesOf({ pageSize, pageCount, chunks }: LoadedImage): Pages {
  const perChunk = CHUNK_BYTES / pageSize;
  return {
    pageSize,
    pageCount,
    page(number) {
      const at = ((number - 1) % perChunk) * pageSize;
      return chunks[Math.floor((number - 1) / perChunk)]!.subarray(at, at + pageSize);
    },
  };
}
