// The table of tables, read by hand: which trees there are and where they begin.
import { type PageSource, type Shape, type TreeKind } from "./pages.ts";
import { type Cell, readCell } from "./records.ts";
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

/** The trees that the schema names, and the pages of it that could not be read whole. */
export function readTrees(
  source: PageSource,
  shape: Shape,
  claimed: Set<number>,
): { readonly trees: Tree[]; readonly damaged: number[] } {
  const trees: Tree[] = [];
  const damaged = new Set<number>();
  for (const { number, bytes, page } of walkTree(source, 1, "table", shape, claimed)) {
    if (page === null || page.misplaced > 0) damaged.add(number);
    if (page === null || !page.isLeaf) continue;
    const cells = page.cells.map((at) => readCell(source, bytes, at, "table", true, shape));
    const isSchema = cells.some((cell) => cell !== null && isEntry(cell));
    // Another table's page, got in here.
    if (!isSchema && cells.length > 0) claimed.delete(number);
    for (const cell of cells) {
      if (cell === null || !isEntry(cell)) damaged.add(number);
      if (!isSchema || cell === null) continue;
      for (const one of cell.overflow) claimed.add(one);
      const [type, name, table, root, sql] = cell.values ?? [];
      // Views and triggers have no pages.
      if (!isEntry(cell) || typeof root !== "number" || root < 1) continue;
      const isTable = type === "table";
      const kind = isTable && !/\bWITHOUT\s+ROWID\b/i.test(String(sql)) ? "table" : "index";
      trees.push({ kind, isTable, name: String(name), table: String(table), root });
    }
  }
  return { trees, damaged: [...damaged] };
}

const TYPES: readonly unknown[] = ["table", "index", "view", "trigger"];

function isEntry({ values }: Cell): boolean {
  const [type, name, table] = values ?? [];
  return values?.length === 5 && TYPES.includes(type) && typeof name === "string" && typeof table === "string";
}
