// The first 100 bytes of a SQLite database (https://sqlite.org/fileformat2.html#the_database_header), as far as they
// decide whether a file is one that can be used. Bytes in, facts out; no files.
import { StorageRefused } from "../../src/errors.ts";

export const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

export interface Header {
  readonly pageSize: number;
  /** Pages in the database, or null when the last writer did not keep the count. */
  readonly pageCount: number | null;
  /** Goes up with every transaction that is not a stock WAL writer's. */
  readonly changeCounter: number;
}

/** Throws `StorageRefused` when this is not a database, or not one of ours to open. */
export function readDatabaseHeader(bytes: Uint8Array, place: string): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
  const rawPageSize = view.byteLength >= HEADER_BYTES ? view.getUint16(16) : 0;
  const pageSize = rawPageSize === 1 ? 65536 : rawPageSize;
  const fractions = view.byteLength >= HEADER_BYTES ? view.getUint32(20) & 0x00ffffff : 0;
  const isPowerOfTwo = pageSize >= 512 && (pageSize & (pageSize - 1)) === 0;
  // 64, 32, 32: fixed numbers of the format, right behind the bytes reserved in each page.
  if (magic !== MAGIC || !isPowerOfTwo || fractions !== 0x402020) {
    throw new StorageRefused(
      "not-a-database",
      place,
      "not a SQLite database, or an encrypted one; it was left as it is",
    );
  }
  if (bytes[18]! > 2 || bytes[19]! > 2) {
    throw new StorageRefused("newer-format", place, "written in a file format newer than this SQLite knows");
  }
  const changeCounter = view.getUint32(24);
  const pageCount = view.getUint32(28);
  const counted = pageCount > 0 && changeCounter === view.getUint32(92);
  return { pageSize, pageCount: counted ? pageCount : null, changeCounter };
}
