// Pages of a SQLite file read by hand (https://sqlite.org/fileformat2.html): where SQLite itself stops at the first thing
// that is malformed, this goes on. Every number found is doubted. Bytes in, facts out.

/** Pages that may be missing. */
export interface PageSource {
  readonly pageSize: number;
  readonly pageCount: number;
  page(number: number): Uint8Array | null;
}

/** What the header on page 1 tells of the rest. */
export interface Shape {
  /** Bytes of a page that SQLite uses; some extensions keep a few at its end. */
  readonly usable: number;
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
  readonly freelist: number;
  readonly freelistCount: number;
  /** Whether there are pages that tell the parents of others, as auto-vacuum needs them. */
  readonly hasPointerMap: boolean;
}

/** "SQLite". */
const MAGIC = [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65];
const ENCODINGS = { 1: "utf-8", 2: "utf-16le", 3: "utf-16be" } as const;
/** The format wants at least this much. */
const LEAST_USABLE = 480;

/** The shape as page 1 tells it, or as it most often is. */
export function shapeOf(source: PageSource): Shape {
  const page = source.page(1);
  // A count that no list has: which pages are free is not known.
  if (page === null || !MAGIC.every((byte, i) => page[i] === byte)) {
    return { usable: source.pageSize, encoding: "utf-8", freelist: 0, freelistCount: -1, hasPointerMap: false };
  }
  const view = viewOf(page);
  const usable = source.pageSize - page[20]!;
  return {
    usable: usable < LEAST_USABLE ? source.pageSize : usable,
    encoding: ENCODINGS[view.getUint32(56) as keyof typeof ENCODINGS] ?? "utf-8",
    freelist: view.getUint32(32),
    freelistCount: view.getUint32(36),
    hasPointerMap: view.getUint32(52) !== 0,
  };
}

/** SQLite locks a byte of this page in the file, and leaves it alone. */
const LOCK_BYTE = 0x40000000;

/** Whether a page is the format's own: no tree has it, and no row. */
export function isReserved(number: number, pageSize: number, { usable, hasPointerMap }: Shape): boolean {
  if (number === Math.floor(LOCK_BYTE / pageSize) + 1) return true;
  return hasPointerMap && (number - 2) % (Math.floor(usable / 5) + 1) === 0;
}

export type TreeKind = "table" | "index";

/** A page of a b-tree. */
export interface TreePage {
  readonly tree: TreeKind;
  readonly isLeaf: boolean;
  /** Where its cells start. */
  readonly cells: readonly number[];
  /** Cells whose place cannot be theirs. */
  readonly misplaced: number;
  /** The child behind the last cell; 0 on a leaf. */
  readonly right: number;
  /** Nothing about the page itself contradicts the format. */
  readonly isSound: boolean;
}

const KINDS: { readonly [type: number]: { readonly tree: TreeKind; readonly isLeaf: boolean } } = {
  2: { tree: "index", isLeaf: false },
  5: { tree: "table", isLeaf: false },
  10: { tree: "index", isLeaf: true },
  13: { tree: "table", isLeaf: true },
};
const FILE_HEADER_BYTES = 100;
const LEAST_CELL_BYTES = 4;

/** Reads the page as one of a b-tree; null when it is none. */
export function readTreePage(page: Uint8Array, number: number, usable: number): TreePage | null {
  const at = number === 1 ? FILE_HEADER_BYTES : 0;
  const kind = KINDS[page[at]!];
  if (kind === undefined) return null;
  const view = viewOf(page);
  const count = view.getUint16(at + 3);
  const content = view.getUint16(at + 5) || 65536;
  const pointers = at + (kind.isLeaf ? 8 : 12);
  const end = pointers + 2 * count;
  if (end > usable) return null;
  const all = Array.from({ length: count }, (_, i) => view.getUint16(pointers + 2 * i));
  const cells = all.filter((cell) => cell >= end && cell <= usable - LEAST_CELL_BYTES);
  const misplaced = count - cells.length;
  return {
    ...kind,
    cells,
    misplaced,
    right: kind.isLeaf ? 0 : view.getUint32(at + 8),
    isSound: misplaced === 0 && content >= end && content <= usable && all.every((cell) => cell >= content),
  };
}

/** The page numbers below an interior page, left to right. */
export function childrenOf(page: Uint8Array, { cells, right }: TreePage): number[] {
  const view = viewOf(page);
  return [...cells.map((cell) => view.getUint32(cell)), right];
}

/** SQLite's variable-length integer, up to nine bytes; null when it runs off the end. */
export function readVarint(
  bytes: Uint8Array,
  at: number,
): { readonly value: number | bigint; readonly end: number } | null {
  let value = 0;
  for (let i = 0; i < 7; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return null;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: at + i + 1 };
  }
  let large = BigInt(value);
  for (let i = 7; i < 9; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return null;
    if (i === 8) return { value: narrow(BigInt.asIntN(64, (large << 8n) | BigInt(byte))), end: at + 9 };
    large = (large << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return { value: narrow(large), end: at + i + 1 };
  }
  return null;
}

/** A number where a number keeps it. */
export function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The page size at which most pages of a file look like pages, for when its header tells none. Cells are laid from the end
 * of a page, so the last one tells a page from half of one.
 */
export function guessPageSize(file: Uint8Array): number {
  let best = { pageSize: 4096, share: 0 };
  for (let pageSize = 512; pageSize <= 65536; pageSize *= 2) {
    let sound = 0;
    const count = Math.floor(file.length / pageSize);
    for (let number = 2; number <= count; number++) {
      const page = file.subarray((number - 1) * pageSize, number * pageSize);
      const { isSound = false, cells = [] } = readTreePage(page, number, pageSize) ?? {};
      if (isSound && cells.some((cell) => cell >= pageSize / 2)) sound++;
    }
    if (count > 1 && sound / (count - 1) > best.share) best = { pageSize, share: sound / (count - 1) };
  }
  return best.pageSize;
}
