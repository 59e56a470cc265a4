// How a test runner ends: with one plain line, "N passed, N failed, N skipped", for machines that read only that. When
// several runners make one run (e2e/all.js), each writes its counts down instead, and the line comes once, at the end.
import { writeFileSync } from "node:fs";

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/** Names the file for the counts, when there is one. */
export const COUNTS_FILE = "PERDURE_TEST_COUNTS";

/** The line. @param {Counts} counts */
export const lineOf = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** Called by a runner's reporter, once. @param {Counts} counts */
export function close(counts) {
  const file = process.env[COUNTS_FILE];
  if (file === undefined) process.stdout.write(`\n${lineOf(counts)}\n`);
  else writeFileSync(file, JSON.stringify(counts));
}
