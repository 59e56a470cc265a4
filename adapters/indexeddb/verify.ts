// Reads a place again and holds it against what a store has in memory.
import type { ImageCorrupt } from "../../src/errors.ts";
import { type LoadedImage, type Pages, pagesOf, type Problem, problemIn } from "../../src/port.ts";
import { wordsOf } from "./checksum.ts";

/** What differs between storage and memory, each page by its number. */
export function differences(image: LoadedImage, pages: Pages): Problem[] {
  if (image.pageCount !== pages.pageCount || image.pageSize !== pages.pageSize) {
    const problem = `it has ${image.pageCount} pages, and memory has ${pages.pageCount}`;
    return [problemIn("storage", "base", problem)];
  }
  const stored = pagesOf(image);
  const found: Problem[] = [];
  for (let number = 1; number <= pages.pageCount; number++) {
    if (sameWords(wordsOf(stored.page(number)), wordsOf(pages.page(number)))) continue;
    found.push(problemIn("storage", "base", "the page in storage is not the one in memory", { page: number }));
  }
  return found;
}

/** Storage that is damaged, as a problem. */
export function damageOf({ message, where }: ImageCorrupt): Problem {
  return problemIn("storage", where?.part ?? "base", message, { page: where?.page ?? null });
}

function sameWords(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i]);
}
