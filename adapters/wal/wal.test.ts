import * as fs from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endOf, frameBytes, FrameWriter, readHeader, scan, startLog, writeHeader } from "./wal.ts";

const GOLDEN_LOG = new URL("../../src/contract/golden/uncheckpointed.db-wal", import.meta.url);

const reader = (log: Uint8Array) => (at: number, bytes: number) => log.slice(at, at + bytes);

/** A log of transactions, each of some pages filled with a byte. */
function build(pageSize: number, transactions: readonly (readonly number[])[], swapped = false) {
  let position = { ...startLog(pageSize, 7, 11, 13), swapped };
  const parts = [writeHeader(position)];
  const ends: number[] = [];
  const writer = new FrameWriter();
  transactions.forEach((numbers, i) => {
    const pages = new Map([...numbers].map((number) => [number, new Uint8Array(pageSize).fill(i + 1)]));
    const written = writer.write({ pageSize, pageCount: 100 + i, pages }, position);
    parts.push(written.bytes.slice());
    position = written.position;
    ends.push(endOf(position));
  });
  return { log: new Uint8Array(Buffer.concat(parts)), ends, position };
}

describe("the log format", () => {
  test("L5 a log the original wrote is read to its last commit", () => {
    const log = new Uint8Array(fs.readFileSync(GOLDEN_LOG));
    const start = readHeader(log)!;
    const scanned = scan(start, reader(log));
    expect(scanned.position.frames).toBe((log.length - 32) / frameBytes(start.pageSize));
    expect(scanned.pageCount).toBeGreaterThan(1);
  });

  test("L5 the header is SQLite's: magic, version, page size, salts and a checksum over them", () => {
    const header = writeHeader(startLog(4096, 3, 0xfffffff0, 5));
    expect(Buffer.from(header.subarray(0, 24)).toString("hex")).toBe(
      "377f0682002de21800001000" + "00000003" + "fffffff0" + "00000005",
    );
    expect(readHeader(header)).toMatchObject({ pageSize: 4096, sequence: 3, salt1: 0xfffffff0, salt2: 5, frames: 0 });
    for (let i = 0; i < 32; i++) {
      const flipped = header.slice();
      flipped[i]! ^= 0x40;
      expect(readHeader(flipped)).toBeNull();
    }
  });

  test.each([512, 1024, 4096, 65536])("L5 pages of %i bytes come back", (pageSize) => {
    const { log, position } = build(pageSize, [[1, 2, 3], [2], [5, 1]]);
    const scanned = scan(readHeader(log)!, reader(log));
    expect(scanned.position).toEqual(position);
    expect(scanned.pageCount).toBe(102);
    expect([...scanned.pages].map(([number, bytes]) => [number, bytes[200]])).toEqual([
      [1, 3],
      [2, 2],
      [3, 1],
      [5, 3],
    ]);
  });

  test("L5 the header of page 1 says WAL in the log and rollback journal in memory", () => {
    const { log } = build(512, [[1]]);
    expect([...log.subarray(32 + 24 + 18, 32 + 24 + 20)]).toEqual([2, 2]);
    expect([...scan(readHeader(log)!, reader(log)).pages.get(1)!.subarray(18, 20)]).toEqual([1, 1]);
  });

  test("L1 cut anywhere, a log holds the transactions that ended before, and no part of another", () => {
    const { log, ends } = build(512, [[1, 2], [3], [2, 4, 5], [1]]);
    fc.assert(
      fc.property(fc.nat(log.length), (length) => {
        const scanned = scan(readHeader(log)!, reader(log.slice(0, length)));
        expect(endOf(scanned.position)).toBe(ends.findLast((end) => end <= length) ?? 32);
      }),
    );
  });

  test("L7 a flipped bit ends the log before the transaction it is in", () => {
    const { log, ends } = build(512, [[1, 2], [3], [2, 4, 5], [1]]);
    fc.assert(
      fc.property(fc.integer({ min: 32, max: log.length - 1 }), fc.integer({ min: 0, max: 7 }), (at, bit) => {
        const flipped = log.slice();
        flipped[at]! ^= 1 << bit;
        const scanned = scan(readHeader(log)!, reader(flipped));
        expect(endOf(scanned.position)).toBe(ends.findLast((end) => end <= at) ?? 32);
      }),
    );
  });

  test("L5 a log from a machine of the other byte order is read, and gone on with", () => {
    const { log, position } = build(512, [[1, 2], [3]], true);
    // The same checksums, announced as of the other order.
    const magic = new DataView(log.buffer, log.byteOffset);
    magic.setUint32(0, magic.getUint32(0) ^ 1);
    const swapWords = (from: number, to: number) => {
      const words = new Int32Array(log.slice(from, to).buffer);
      return words.map(
        (word) => ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >> 8) & 0xff00) | (word >>> 24),
      );
    };
    let [s1, s2] = [0, 0];
    const words = swapWords(0, 24);
    for (let i = 0; i < words.length; i += 2) {
      s1 = (s1 + words[i]! + s2) | 0;
      s2 = (s2 + words[i + 1]! + s1) | 0;
    }
    magic.setInt32(24, s1);
    magic.setInt32(28, s2);
    const start = readHeader(log)!;
    expect(start).toMatchObject({ swapped: true, sum1: s1, sum2: s2 });
    // Frames go on from the header's sums, so they are made again for this start.
    const written = new FrameWriter().write(
      { pageSize: 512, pageCount: 9, pages: new Map([[4, new Uint8Array(512).fill(9)]]) },
      start,
    );
    const whole = new Uint8Array(Buffer.concat([log.subarray(0, 32), written.bytes]));
    expect(scan(start, reader(whole)).position).toEqual(written.position);
    expect(position.swapped).toBe(true);
  });
});
