// The SQLite file itself: read whole at open, created whole, and brought up to date page by page at a checkpoint.
import { ImageCorrupt, StorageRefused } from "../../src/errors.ts";
import { CHUNK_BYTES, type LoadedImage, type PageDelta, type Pages } from "../../src/port.ts";
import {
  closing,
  createFile,
  inspect,
  openFile,
  type Program,
  publish,
  type RandomAccessFile,
  readPart,
  remove,
} from "./disk.ts";
import { translating } from "./translating.ts";
import { HEADER_BYTES, type Header, readDatabaseHeader } from "./header.ts";
import { markAsRollback, markAsWal, type Scanned } from "./wal.ts";

/** New files are for their owner alone. */
const NEW_FILE_MODE = 0o600;

const EMPTY = { remedy: "restore it, or remove it when nothing was ever in it" };

export class BaseFile {
  readonly #path: string;
  readonly #place: string;
  readonly #file: RandomAccessFile;
  readonly #isInPlace: () => boolean;
  readonly pageSize: number;

  private constructor(path: string, place: string, file: RandomAccessFile, pageSize: number) {
    this.#path = path;
    this.#place = place;
    this.#file = file;
    this.#isInPlace = file.placeAt(path) ?? (() => false);
    this.pageSize = pageSize;
  }

  /** Opens a database, or refuses; writes nothing. Null when nothing is there. */
  static open(path: string, place: string): BaseFile | null {
    const found = inspectPlace(path, place);
    if (found === null) return null;
    if (!found.isFile) throw new StorageRefused("not-a-database", place, "a directory or a device, not a file");
    if (found.size === 0) throw new ImageCorrupt(place, "the file is empty", EMPTY);
    const file = translating(place, () => openFile(path));
    try {
      const { pageSize } = readDatabaseHeader(readPart(file, 0, HEADER_BYTES), place);
      refuseHotJournal(path, place);
      return new BaseFile(path, place, file, pageSize);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** A new database that holds `pages`, all of it or nothing. */
  static *create(path: string, place: string, temporary: string, { pageSize, pages }: PageDelta): Program<BaseFile> {
    const file = createFile(temporary, NEW_FILE_MODE);
    try {
      for (const [number, bytes] of pages) file.write(forDisk(number, bytes), (number - 1) * pageSize);
      yield { kind: "sync", file };
      publish(temporary, path);
      return new BaseFile(path, place, file, pageSize);
    } catch (error) {
      // It may have its name already, and its folder not synced.
      if (file.placeAt(path) !== null) remove(path);
      remove(temporary);
      file.close();
      throw error;
    }
  }

  /** Whether the path still means this file. */
  isInPlace(): boolean {
    return this.#isInPlace();
  }

  get mode(): number {
    return inspect(this.#path)?.mode ?? NEW_FILE_MODE;
  }

  readHeader(): Header {
    return readDatabaseHeader(readPart(this.#file, 0, HEADER_BYTES), this.#place);
  }

  /** The file with what its log adds. Throws `ImageCorrupt` when pages are missing from both. */
  load(log: Scanned | null): LoadedImage {
    const { pageSize } = this;
    const size = this.#file.size();
    const wholePages = Math.floor(size / pageSize);
    const pageCount = log?.pageCount ?? this.readHeader().pageCount ?? Math.ceil(size / pageSize);
    for (let number = wholePages + 1; number <= pageCount; number++) {
      if (log?.pages.has(number)) continue;
      throw new ImageCorrupt(
        this.#place,
        `it should have ${pageCount} pages and page ${number} is missing (truncated)`,
      );
    }
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < pageCount * pageSize; at += CHUNK_BYTES) {
      const chunk = new Uint8Array(CHUNK_BYTES);
      translating(this.#place, () => this.#file.read(chunk, at));
      chunks.push(chunk);
    }
    const perChunk = CHUNK_BYTES / pageSize;
    for (const [number, bytes] of log?.pages ?? []) {
      if (number > pageCount) continue;
      chunks[Math.floor((number - 1) / perChunk)]!.set(bytes, ((number - 1) % perChunk) * pageSize);
    }
    markAsRollback(chunks[0]!);
    return { pageSize, pageCount, chunks };
  }

  /** The pages of `pages` that this file does not have, or not so. */
  differences(pages: Pages): Map<number, Uint8Array> {
    const found = new Map<number, Uint8Array>();
    const stored = new Uint8Array(pages.pageSize);
    for (let number = 1; number <= pages.pageCount; number++) {
      const length = this.#file.read(stored, (number - 1) * pages.pageSize);
      if (number === 1) markAsRollback(stored);
      const wanted = pages.page(number);
      if (length < pages.pageSize || !sameBytes(stored, wanted)) found.set(number, wanted);
    }
    return found;
  }

  /** Writes pages, not yet durable. */
  write(numbers: readonly number[], pages: Pages): void {
    for (const number of numbers) this.#file.write(forDisk(number, pages.page(number)), (number - 1) * pages.pageSize);
  }

  /** Cuts off what lies behind the last page. */
  trim({ pageCount, pageSize }: Pages): void {
    if (this.#file.size() > pageCount * pageSize) this.#file.truncate(pageCount * pageSize);
  }

  *sync(): Program<void> {
    yield { kind: "sync", file: this.#file };
  }

  close(): void {
    this.#file.close();
  }
}

/** Whole pages, which are aligned: compared by words. */
function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  const x = new Uint32Array(a.buffer, a.byteOffset, a.length / 4);
  const y = new Uint32Array(b.buffer, b.byteOffset, b.length / 4);
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return false;
  return true;
}

/** Page 1 says on disk that the file has a log. */
function forDisk(number: number, bytes: Uint8Array): Uint8Array {
  if (number !== 1) return bytes;
  const copy = bytes.slice();
  markAsWal(copy);
  return copy;
}

function inspectPlace(path: string, place: string): ReturnType<typeof inspect> {
  return translating(place, () => inspect(path));
}

/**
 * A rollback journal with a header holds what a transaction cut short had overwritten, or belongs to a writer at work.
 * Which of the two, only SQLite's own locks can tell; so SQLite itself must put it right.
 */
function refuseHotJournal(path: string, place: string): void {
  const journal = `${path}-journal`;
  if ((inspect(journal)?.size ?? 0) === 0) return;
  const file = openFile(journal);
  const [first] = closing(file, () => readPart(file, 0, 1));
  if (first === 0) return;
  const remedy = `let SQLite finish or roll it back: sqlite3 FILE "SELECT count(*) FROM sqlite_schema"`;
  throw new StorageRefused(
    "hot-journal",
    place,
    `a transaction of another program is unfinished (${journal}); ${remedy}`,
  );
}
