// Which log comes after which (L4, L7): salts wrap, and a replacement is never taken for a successor.
import { describe, expect, test } from "vitest";
import { covers, framesReplaced, isBehind, isSuccessor, replacementOf } from "./lineage.ts";
import { type LogPosition, readHeader, startLog, writeHeader } from "./wal.ts";

const at = (salt1: number, frames = 0): LogPosition => ({ ...startLog(4096, 7, salt1, 0xfffffff0), frames });

describe.each([5, 0x7fffffff, 0xfffffffe])("a log with salt %i", (salt) => {
  const next = (steps: number): LogPosition => at((salt + steps) >>> 0);

  test("L4 is followed by those that started it over, and by no other", () => {
    expect([1, 2, 0xffff].map((steps) => isSuccessor(next(steps), at(salt)))).toEqual([true, true, true]);
    expect([0, -1, 0x10000].map((steps) => isSuccessor(next(steps), at(salt)))).toEqual([false, false, false]);
  });

  test("L7 has a replacement that tells how much of it was known, and follows nothing", () => {
    const known = at(salt, 40);
    const written = readHeader(writeHeader(replacementOf(known)))!;
    expect(framesReplaced(written, known)).toBe(40);
    expect(framesReplaced(written, at(salt, 12))).toBe(40);
    for (const steps of [-0xffff, -1, 0, 1, 0xffff]) {
      expect(isSuccessor(written, next(steps))).toBe(false);
      expect(isSuccessor(next(steps), written)).toBe(false);
    }
    expect(framesReplaced(next(1), known)).toBeNull();
  });

  test("L7 is behind one that has more of it, or started it over; of any other nobody knows", () => {
    expect(isBehind(at(salt, 3), at(salt, 4))).toBe(true);
    expect(isBehind(at(salt, 4), at(salt, 4))).toBe(false);
    expect(isBehind(at(salt, 9), next(1))).toBe(true);
    expect(isBehind(next(1), at(salt, 9))).toBe(false);
    expect(isBehind(at(salt, 9), replacementOf(at(salt, 9)))).toBe(false);
  });

  test("L7 covers what it has all of: itself, its start, and what it started over", () => {
    expect(covers(at(salt, 4), at(salt, 4))).toBe(true);
    expect(covers(at(salt, 4), at(salt, 5))).toBe(false);
    expect(covers(next(1), at(salt, 9))).toBe(true);
    expect(covers(at(salt, 9), next(1))).toBe(false);
    expect(covers(replacementOf(at(salt, 9)), at(salt, 9))).toBe(false);
  });
});
