// Reads a place again and holds it against what a store has in memory.
import type { ImageCorrupt } from "../../src/errors.ts";
import { CHUNK_BYTES, type LoadedImage, type Pages, type Problem } from "../../src/port.ts";
import { wordsOf } from "./checksum.ts";

/** What differs between storage and memory, each page by its number. */
export function differences(image: LoadedImage, pages: Pages): Problem[] {
  if (image.pageCount !== pages.pageCount || image.pageSize !== pages.pageSize) {
    return [problemOf(`it has ${image.pageCount} pages, and memory has ${pages.pageCount}`, null)];
  }
  const found: Problem[] = [];
  for (let number = 1; number <= pages.pageCount; number++) {
    const at = (number - 1) * pages.pageSize;
    const stored = image.chunks[Math.floor(at / CHUNK_BYTES)]!.subarray(
      at % CHUNK_BYTES,
      (at % CHUNK_BYTES) + pages.pageSize,
    );
    if (!sameWords(wordsOf(stored), wordsOf(pages.page(number)))) {
      found.push(problemOf("the page in storage is not the one in memory", number));
    }
  }
  return found;
}

/** Storage that is damaged, as a problem. */
export function damageOf({ message, where }: ImageCorrupt): Problem {
  return { ...problemOf(message, where?.page ?? null), where: where?.part ?? "base" };
}

function problemOf(problem: string, page: number | null): Problem {
  return { kind: "storage", where: "base", id: null, row: null, page, offset: null, problem };
}

function sameWords(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i]);
}
