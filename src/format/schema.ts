// The table of tables, read by hand: which trees there are and where they begin.
import { type PageSource, type Shape, type TreeKind } from "./pages.ts";
import { readCell } from "./records.ts";
import { walkTree } from "./trees.ts";

/** A table or an index. */
export interface Tree {
  readonly kind: TreeKind;
  /** It is a table, though one without rowids is kept as an index is. */
  readonly isTable: boolean;
  readonly name: string;
  readonly table: string;
  readonly root: number;
}

/** The trees that the schema names, and whether all of it could be read. */
export function readTrees(
  source: PageSource,
  shape: Shape,
  claimed: Set<number>,
): { readonly trees: Tree[]; readonly isWhole: boolean } {
  const trees: Tree[] = [];
  let isWhole = true;
  for (const { bytes, page } of walkTree(source, 1, "table", shape, claimed)) {
    if (page === null) isWhole = false;
    else if (page.misplaced > 0) isWhole = false;
    if (page === null || !page.isLeaf) continue;
    for (const at of page.cells) {
      const cell = readCell(source, bytes, at, "table", true, shape);
      for (const number of cell?.overflow ?? []) claimed.add(number);
      const [type, name, table, root, sql] = cell?.values ?? [];
      if (typeof type !== "string" || typeof name !== "string" || typeof table !== "string") isWhole = false;
      // Views and triggers have no pages.
      else if ((type === "table" || type === "index") && typeof root === "number" && root > 0) {
        const isTable = type === "table";
        const kind = isTable && !/\bWITHOUT\s+ROWID\b/i.test(String(sql)) ? "table" : "index";
        trees.push({ kind, isTable, name, table, root });
      }
    }
  }
  return { trees, isWhole };
}
