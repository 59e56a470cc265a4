// Damage in a log: told from a transaction that was being written when the power went, and what lies behind it found.
import { describe, expect, test } from "vitest";
import { ImageCorrupt } from "../../src/errors.ts";
import { refuseHole } from "./broken-log.ts";
import { readable } from "./database-file.ts";
import { scanLog } from "./log.ts";
import { remainsOf } from "./remains.ts";
import { frameBytes, FrameWriter, startLog, WAL_HEADER_BYTES, writeHeader } from "./wal.ts";

const PAGE = 512;
const at = (frame: number): number => WAL_HEADER_BYTES + (frame - 1) * frameBytes(PAGE);

/** A log of these transactions, each of these pages; every page is filled with the number of its transaction. */
function logOf(...transactions: readonly (readonly number[])[]): Uint8Array {
  const writer = new FrameWriter();
  let position = startLog(PAGE, 3, 7, 8);
  const parts = [writeHeader(position)];
  for (const [i, numbers] of transactions.entries()) {
    const pages = new Map(numbers.map((number) => [number, new Uint8Array(PAGE).fill(i + 1)]));
    const written = writer.write({ pageSize: PAGE, pageCount: 4, pages }, position);
    parts.push(written.bytes.slice());
    ({ position } = written);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** The log with one byte of a frame changed: in its page, or in its header. */
function scratched(log: Uint8Array, frame: number, where: "page" | "header" = "page"): Uint8Array {
  const copy = log.slice();
  copy[at(frame) + (where === "page" ? 24 + 99 : 9)]! ^= 0x5a;
  return copy;
}

const open = (log: Uint8Array): void => refuseHole("a.db", readable(log), scanLog(readable(log))!.position);

/** Page 2, 3, 4 as salvage finds them: the number of the transaction that wrote them, or null when they are lost. */
function remains(wal: Uint8Array): { pages: (number | null | undefined)[]; problems: string[] } {
  const { page, problems } = remainsOf("a.db", { database: new Uint8Array(4 * PAGE), wal });
  const pages = [2, 3, 4].map((number) => (page(number) === null ? null : page(number)![100]));
  return { pages, problems: problems.filter(({ where }) => where === "log").map(({ problem }) => problem) };
}

const LOG = logOf([1, 2], [2, 3], [3, 4], [4]);

describe("a log whose checksums break", () => {
  test("L7 in front of a whole transaction it is refused, with the frame and its offset", () => {
    for (const where of ["page", "header"] as const) {
      expect(() => open(scratched(LOG, 3, where))).toThrow(ImageCorrupt);
      expect(() => open(scratched(LOG, 3, where))).toThrow(`(log, frame 3, byte ${at(3)})`);
    }
    expect(() => open(scratched(LOG, 1))).toThrow("(log, frame 1, byte 32)");
  });

  test("L2 in the last transaction it is what a power cut leaves, and no damage", () => {
    for (const frame of [5, 6, 7]) {
      const last = logOf([1, 2], [2, 3], [3, 4, 2]);
      expect(() => open(scratched(last, frame))).not.toThrow();
      expect(() => open(last.slice(0, at(frame) + 77))).not.toThrow();
    }
    expect(() => open(LOG)).not.toThrow();
  });

  test("L2 what an older transaction left behind a shorter one is no damage", () => {
    // The long one was never acknowledged: its writer died, and the next one wrote over its start.
    const old = logOf([1, 2], [2, 3, 4, 1, 2]);
    const log = old.slice();
    log.set(logOf([1, 2], [4]).subarray(at(3)), at(3));
    expect(() => open(log)).not.toThrow();
    expect(remains(log).pages).toEqual([1, 0, 2]);
  });

  test("L7 salvage goes on behind it, without the page that it held", () => {
    expect(remains(LOG)).toEqual({ pages: [2, 3, 4], problems: [] });
    expect(remains(scratched(LOG, 3))).toEqual({
      pages: [null, 3, 4],
      problems: ["frame 3 fails its checksum: page 2 is lost"],
    });
    // A later transaction has the page once more.
    expect(remains(scratched(LOG, 4)).pages).toEqual([2, 3, 4]);
  });

  test("L7 salvage leaves out a transaction that is damaged and the last one, and says so", () => {
    expect(remains(scratched(LOG, 7))).toEqual({
      pages: [2, 3, 3],
      problems: ["its last transaction is damaged, and left out"],
    });
  });

  test("L6 L7 salvage believes no page number that nothing stands behind", () => {
    const writer = new FrameWriter();
    const pages = new Map([4, 4_000_000_000].map((number) => [number, new Uint8Array(PAGE)]));
    const start = startLog(PAGE, 3, 7, 8);
    const { bytes } = writer.write({ pageSize: PAGE, pageCount: 4_000_000_000, pages }, start);
    const wal = new Uint8Array(Buffer.concat([writeHeader(start), bytes]));
    const { pageCount, problems } = remainsOf("a.db", { database: new Uint8Array(PAGE), wal });
    expect(pageCount).toBe(4);
    const told = problems.map(({ problem }) => problem).slice(-2);
    expect(told).toEqual(["pages 2 to 3 are cut off", "pages 5 to 4000000000 are missing (truncated)"]);
  });

  test("L7 salvage finds frames behind a header that is none", () => {
    const database = new Uint8Array(4 * PAGE);
    database.set(new TextEncoder().encode("SQLite format 3\0"));
    database.set([PAGE >> 8, PAGE & 0xff, 2, 2, 0, 64, 32, 32], 16);
    const wal = LOG.slice();
    wal.fill(0, 0, WAL_HEADER_BYTES);
    const { page, problems } = remainsOf("a.db", { database, wal });
    expect([2, 3, 4].map((number) => page(number)?.[100])).toEqual([2, 3, 4]);
    expect(problems.map(({ problem }) => problem)).toEqual([
      "its header is none",
      "frame 1 fails its checksum: page 1 is lost",
    ]);
  });
});
