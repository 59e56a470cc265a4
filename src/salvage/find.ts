// Finds the rows of our tables in what is left of a database: first along the trees, then on pages that nothing leads to
// any more, and at last in the indexes. Every page is read once or twice, so damage can neither loop nor grow.
import { isReserved, type PageSource, readTreePage, type Shape, shapeOf, type TreePage } from "../format/pages.ts";
import { type Cell, readCell } from "../format/records.ts";
import { readTrees, type Tree } from "../format/schema.ts";
import { readFreelist, walkTree } from "../format/trees.ts";
import type { RowKind } from "../port.ts";
import type { Value } from "../engine/row.ts";
import type { Lost } from "./report.ts";
import { fits, type FoundRow, idOf, keyOf, rowOf, TABLES } from "./tables.ts";

/** Who takes what is found. */
export interface Finder {
  /** False when there is a row with its key already. */
  row(row: FoundRow): boolean;
  /** The last number that AUTOINCREMENT gave. */
  sequence(table: "outbox" | "spawns", last: Value): void;
  lost(lost: Lost): void;
  /** The list of free pages is damaged. `isTaken`: rows on pages that nothing leads to were taken all the same. */
  doubtful(isTaken: boolean): void;
  has(table: RowKind, key: readonly Value[]): boolean;
}

type TableShape = (typeof TABLES)[number];

/** Gives all rows to `finder`, and the names of other programs' tables. */
export function findRows(source: PageSource, finder: Finder): string[] {
  return new Search(source, finder).run();
}

class Search {
  readonly #source: PageSource;
  readonly #finder: Finder;
  readonly #shape: Shape;
  /** Pages that a tree or a row has. */
  readonly #claimed: Set<number> = new Set();
  /** Tables that miss something. */
  readonly #holed: Set<RowKind> = new Set();

  constructor(source: PageSource, finder: Finder) {
    this.#source = source;
    this.#finder = finder;
    this.#shape = shapeOf(source);
  }

  run(): string[] {
    const { trees, damaged } = readTrees(this.#source, this.#shape, this.#claimed);
    for (const page of damaged) this.#lose(null, "page", { page });
    const named = (name: string): Tree | undefined => trees.find((tree) => tree.name.toLowerCase() === name);
    for (const shape of TABLES) {
      const tree = named(shape.table);
      if (tree === undefined) this.#lose(shape.table, "page", {});
      else this.#walkTable(shape, tree.root);
    }
    const ours = new Set<string>(TABLES.map(({ table }) => table));
    const others = trees.filter(({ isTable, name }) => isTable && !ours.has(name.toLowerCase()) && !isSqlites(name));
    const sequences = named("sqlite_sequence");
    if (sequences !== undefined) this.#readSequences(sequences.root);
    // What is theirs is not ours to find; should the schema be damaged, it cannot be told from ours where it looks alike.
    const keys = TABLES.map((shape) => ({ shape, index: named(`sqlite_autoindex_${shape.table}_1`) }));
    for (const { root, kind } of trees) if (!this.#claimed.has(root)) this.#claim(root, kind);
    this.#searchLoosePages();
    for (const { shape, index } of keys) if (index !== undefined) this.#walkIndex(shape, index.root);
    return others.map(({ name }) => name);
  }

  #walkTable(shape: TableShape, root: number): void {
    for (const { number, bytes, page } of walkTree(this.#source, root, "table", this.#shape, this.#claimed)) {
      if (page === null) this.#lose(shape.table, "page", { page: number });
      else if (!page.isLeaf) this.#loseMisplaced(shape, number, page, "page");
      else if (!this.#readLeaf(shape, number, bytes, page, number === root)) {
        this.#claimed.delete(number);
        this.#lose(shape.table, "page", { page: number });
      }
    }
  }

  /** Takes the rows of a leaf; false when it is another table's. */
  #readLeaf(shape: TableShape, number: number, bytes: Uint8Array, page: TreePage, isRoot: boolean): boolean {
    const cells = this.#cellsOf(bytes, page);
    // A row that is not there whole could be anybody's: where there are others, those tell.
    const whole = cells.filter((cell) => cell !== null && cell.values !== null);
    const isOurs = whole.length > 0 ? whole.some((cell) => fits(shape, cell!)) : cells.some((cell) => cell !== null);
    if (!isOurs) return isRoot && cells.length === 0 && page.misplaced === 0;
    this.#loseMisplaced(shape, number, page, "row");
    for (const cell of cells) this.#takeRow(shape, number, cell);
    return true;
  }

  #takeRow(shape: TableShape, page: number, cell: Cell | null): void {
    for (const number of cell?.overflow ?? []) this.#claimed.add(number);
    const row = cell === null ? ({ id: null, reason: "row" } as const) : rowOf(shape, cell);
    if ("values" in row && this.#finder.row(row)) return;
    const { id, reason } = "values" in row ? ({ id: idOf(shape, row), reason: "key" } as const) : row;
    const rowid = typeof cell?.rowid === "number" ? cell.rowid : null;
    this.#lose(shape.table, reason, { page, rowid, id, rows: 1 });
  }

  #loseMisplaced({ table }: TableShape, page: number, { misplaced }: TreePage, reason: "page" | "row"): void {
    if (misplaced > 0) this.#lose(table, reason, { page, rows: reason === "row" ? misplaced : null });
  }

  #readSequences(root: number): void {
    for (const { bytes, page } of walkTree(this.#source, root, "table", this.#shape, new Set())) {
      if (page === null || !page.isLeaf) continue;
      for (const cell of this.#cellsOf(bytes, page)) {
        const [name, last] = cell?.values ?? [];
        if (name !== "outbox" && name !== "spawns") continue;
        if (typeof last === "number" || typeof last === "bigint") this.#finder.sequence(name, `${last}`);
      }
    }
  }

  #cellsOf(bytes: Uint8Array, { cells, tree, isLeaf }: TreePage): (Cell | null)[] {
    return cells.map((at) => readCell(this.#source, bytes, at, tree, isLeaf, this.#shape));
  }

  /** What has no rows of ours: indexes, and tables of others. */
  #claim(root: number, kind: Tree["kind"]): void {
    for (const { number, bytes, page } of walkTree(this.#source, root, kind, this.#shape, this.#claimed)) {
      if (page === null) {
        const found = this.#source.page(number);
        if (found === null || readTreePage(found, number, this.#shape.usable) === null) this.#claimed.add(number);
      } else if (kind === "index" || page.isLeaf) {
        const cells = this.#cellsOf(bytes, page);
        if (kind === "table" && this.#isStray(cells)) this.#claimed.delete(number);
        else for (const one of cells.flatMap((cell) => cell?.overflow ?? [])) this.#claimed.add(one);
      }
    }
  }

  /** Whether a page in another program's table is one that ours misses. Of columns that are not JSON nobody can tell. */
  #isStray(cells: readonly (Cell | null)[]): boolean {
    const missing = TABLES.filter(({ table, json }) => json !== null && this.#holed.has(table));
    return cells.some((cell) => cell !== null && missing.some((shape) => "values" in rowOf(shape, cell)));
  }

  /** Leaves that no tree has, though they are not free: the way to them is what was damaged. */
  #searchLoosePages(): void {
    const free = readFreelist(this.#source, this.#shape);
    const isHoled = this.#holed.size > 0;
    if (free === null) this.#finder.doubtful(isHoled);
    // Not knowing which are free, and missing nothing: what lies there was deleted.
    if (free === null && !isHoled) return;
    const isLoose = (number: number): boolean =>
      !this.#claimed.has(number) &&
      free?.has(number) !== true &&
      !isReserved(number, this.#source.pageSize, this.#shape);
    const unknown: number[] = [];
    for (let number = 2; number <= this.#source.pageCount; number++) {
      if (!isLoose(number)) continue;
      const bytes = this.#source.page(number);
      const page = bytes === null ? null : readTreePage(bytes, number, this.#shape.usable);
      if (bytes === null || page === null) unknown.push(number);
      if (bytes === null || page === null || page.tree !== "table" || !page.isLeaf) continue;
      const cells = this.#cellsOf(bytes, page);
      const shape = TABLES.find((one) => cells.some((cell) => cell !== null && fits(one, cell)));
      if (shape === undefined) continue;
      // Where one leaf has lost its way, others may have too.
      if (!this.#holed.has(shape.table)) this.#lose(shape.table, "page", {});
      this.#readLeaf(shape, number, bytes, page, false);
    }
    // Those that came to be a row's since are its overflow. Of the rest nobody knows what it was.
    const lost = unknown.find(isLoose);
    if (lost !== undefined) this.#lose(null, "page", { page: lost });
  }

  /** Markers are whole in their index; of other rows it tells at least which are missing, even when nothing else does. */
  #walkIndex(shape: TableShape, root: number): void {
    // Its pages are claimed already.
    for (const { bytes, page } of walkTree(this.#source, root, "index", this.#shape, new Set())) {
      if (page === null) continue;
      for (const cell of this.#cellsOf(bytes, page)) {
        const entry = cell === null ? null : keyOf(shape, cell);
        if (entry === null || this.#finder.has(shape.table, entry.key)) continue;
        const { key, rowid } = entry;
        if (shape.table === "processed_events") this.#finder.row({ table: shape.table, values: key });
        else this.#lose(shape.table, "missing", { id: String(key[0]), rowid, rows: 1 });
      }
    }
  }

  #lose(table: RowKind | null, reason: Lost["reason"], known: Partial<Lost>): void {
    for (const one of table === null ? TABLES.map((shape) => shape.table) : [table]) this.#holed.add(one);
    this.#finder.lost({ table, reason, page: null, rowid: null, id: null, rows: null, ...known });
  }
}

/** SQLite's own tables: counters and statistics. */
function isSqlites(name: string): boolean {
  return name.toLowerCase().startsWith("sqlite_");
}
