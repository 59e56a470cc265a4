// Walks over b-trees whose pages may be missing, malformed or another tree's, and over the list of free pages. A page is
// visited once, so no walk goes round in circles.
import {
  childrenOf,
  type PageSource,
  readTreePage,
  type Shape,
  type TreeKind,
  type TreePage,
  viewOf,
} from "./pages.ts";

/** A page as a walk came upon it, and the one that led to it (0 for the root). */
export type Visit =
  | { readonly number: number; readonly parent: number; readonly bytes: Uint8Array; readonly page: TreePage }
  /** Not a page of such a tree; `isPointless` when it is not even there, or another tree has it already. */
  | {
      readonly number: number;
      readonly parent: number;
      readonly isPointless: boolean;
      readonly bytes: null;
      readonly page: null;
    };

/** All pages from `root` on, each before those below it, left to right. Those that are found go into `claimed`. */
export function* walkTree(
  source: PageSource,
  root: number,
  tree: TreeKind,
  { usable }: Shape,
  claimed: Set<number>,
): Generator<Visit> {
  const ahead = [{ number: root, parent: 0 }];
  for (let step = ahead.pop(); step !== undefined; step = ahead.pop()) {
    const { number } = step;
    const isPointless = number < 1 || number > source.pageCount || claimed.has(number);
    const bytes = isPointless ? null : source.page(number);
    const page = bytes === null ? null : readTreePage(bytes, number, usable);
    if (bytes === null || page === null || page.tree !== tree) {
      yield { ...step, isPointless, bytes: null, page: null };
      continue;
    }
    claimed.add(number);
    yield { ...step, bytes, page };
    if (page.isLeaf) continue;
    for (const child of childrenOf(bytes, page).toReversed()) ahead.push({ number: child, parent: number });
  }
}

/** The pages on the list of free ones; null when the list contradicts itself, and nothing in it can be relied upon. */
export function readFreelist(source: PageSource, { usable, freelist, freelistCount }: Shape): Set<number> | null {
  const free = new Set<number>();
  const add = (number: number): boolean => {
    if (number < 2 || number > source.pageCount || free.has(number)) return false;
    free.add(number);
    return true;
  };
  for (let trunk = freelist; trunk !== 0;) {
    const page = add(trunk) ? source.page(trunk) : null;
    if (page === null) return null;
    const view = viewOf(page);
    const count = view.getUint32(4);
    if (count > usable / 4 - 2) return null;
    for (let i = 0; i < count; i++) if (!add(view.getUint32(8 + 4 * i))) return null;
    trunk = view.getUint32(0);
  }
  return free.size === freelistCount ? free : null;
}
