// Where a database is malformed, once SQLite says that it is: SQLite tells no page. The first page that contradicts the
// format is told; there may be more.
import { type PageSource, shapeOf } from "./pages.ts";
import { readCell } from "./records.ts";
import { readTrees } from "./schema.ts";
import { walkTree } from "./trees.ts";

/** The first malformed page, or null when every page by itself looks as it should. */
export function findDamage(source: PageSource): number | null {
  if (source.pageCount === 0) return null;
  const shape = shapeOf(source);
  const claimed = new Set<number>();
  const { trees, damaged } = readTrees(source, shape, claimed);
  const [first] = damaged;
  if (first !== undefined) return first <= source.pageCount ? first : 1;
  for (const { kind, root } of trees) {
    for (const visit of walkTree(source, root, kind, shape, claimed)) {
      const { number, parent, bytes, page } = visit;
      if (page === null) return visit.isPointless ? Math.max(parent, 1) : number;
      if (!page.isSound) return number;
      if (kind === "table" && !page.isLeaf) continue;
      for (const at of page.cells) {
        const cell = readCell(source, bytes, at, kind, page.isLeaf, shape);
        if (cell === null || cell.values === null) return cell?.overflow.at(-1) ?? number;
      }
    }
  }
  return null;
}
