// Cells and the records in them: what a row of a table or an entry of an index is made of. A record is read whole or not
// at all.
import { narrow, type PageSource, readVarint, type Shape, type TreeKind, viewOf } from "./pages.ts";

/** A stored value. Text that is not in the database's encoding comes as its bytes. */
export type Stored = null | number | bigint | string | Uint8Array;

/** What a cell holds. */
export interface Cell {
  /** Of a table's cell. */
  readonly rowid: number | bigint | null;
  /** The columns, or null when they cannot be read: cut off, or their overflow pages are lost. */
  readonly values: readonly Stored[] | null;
  /** The pages that its overflow takes, as far as they were found. */
  readonly overflow: readonly number[];
}

/** Reads the cell of a leaf at `at`, or an index's interior one; null when it is none. */
export function readCell(
  source: PageSource,
  page: Uint8Array,
  at: number,
  tree: TreeKind,
  isLeaf: boolean,
  shape: Shape,
): Cell | null {
  const length = readVarint(page, isLeaf ? at : at + 4);
  if (length === null || typeof length.value === "bigint" || length.value > source.pageCount * source.pageSize) {
    return null;
  }
  let { end } = length;
  let rowid: number | bigint | null = null;
  if (tree === "table") {
    const read = readVarint(page, end);
    if (read === null) return null;
    ({ value: rowid, end } = read);
  }
  const local = localBytes(length.value, tree, shape.usable);
  if (end + local > shape.usable) return null;
  if (local === length.value) {
    return { rowid, values: readRecord(page.subarray(end, end + local), shape), overflow: [] };
  }
  if (end + local + 4 > shape.usable) return null;
  const payload = new Uint8Array(length.value);
  payload.set(page.subarray(end, end + local));
  const first = viewOf(page).getUint32(end + local);
  const { overflow, isWhole } = readOverflow(source, first, payload, local, shape.usable);
  return { rowid, values: isWhole ? readRecord(payload, shape) : null, overflow };
}

/** How much of a payload lies on its page. The format's own arithmetic. */
function localBytes(length: number, tree: TreeKind, usable: number): number {
  const most = tree === "table" ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (length <= most) return length;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const fitting = least + ((length - least) % (usable - 4));
  return fitting <= most ? fitting : least;
}

function readOverflow(
  source: PageSource,
  first: number,
  payload: Uint8Array,
  from: number,
  usable: number,
): { readonly overflow: number[]; readonly isWhole: boolean } {
  // A chain longer than its payload ends by itself, so one that bites its tail does.
  const overflow: number[] = [];
  let number = first;
  for (let at = from; at < payload.length; at += usable - 4) {
    const page = number < 2 || number > source.pageCount ? null : source.page(number);
    if (page === null) return { overflow, isWhole: false };
    overflow.push(number);
    payload.set(page.subarray(4, Math.min(usable, 4 + payload.length - at)), at);
    number = viewOf(page).getUint32(0);
  }
  return { overflow, isWhole: number === 0 };
}

/** Bytes that the fixed serial types take. */
const FIXED_BYTES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

function readRecord(payload: Uint8Array, { encoding }: Shape): Stored[] | null {
  const header = readVarint(payload, 0);
  if (header === null || typeof header.value === "bigint" || header.value > payload.length) return null;
  const values: Stored[] = [];
  let body = header.value;
  for (let at = header.end; at < header.value;) {
    const type = readVarint(payload.subarray(0, header.value), at);
    if (type === null || typeof type.value === "bigint") return null;
    const bytes = type.value < 12 ? FIXED_BYTES[type.value] : Math.floor((type.value - 12) / 2);
    if (bytes === undefined || body + bytes > payload.length) return null;
    values.push(readValue(payload, type.value, body, bytes, encoding));
    body += bytes;
    at = type.end;
  }
  return values;
}

function readValue(payload: Uint8Array, type: number, at: number, bytes: number, encoding: Shape["encoding"]): Stored {
  if (type === 0) return null;
  if (type === 7) return viewOf(payload).getFloat64(at);
  if (type >= 8 && type <= 9) return type - 8;
  const part = payload.subarray(at, at + bytes);
  if (type < 8) {
    let value = BigInt(new Int8Array(part)[0] ?? 0);
    for (const byte of part.subarray(1)) value = (value << 8n) | BigInt(byte);
    return narrow(value);
  }
  if (type % 2 === 0) return part;
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(part);
  } catch {
    return part;
  }
}
