// What the demo shows: plain text, with colours where a terminal wants them (https://no-color.org).

const colourful = process.stdout.isTTY && !process.env["NO_COLOR"];
/** @param {number} code @returns {(text: string) => string} */
const colour = (code) => (text) => (colourful ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = colour(1);
export const dim = colour(2);
export const red = colour(31);
export const green = colour(32);
export const yellow = colour(33);
export const cyan = colour(36);

/** @param {string} text */
export const say = (text = "") => console.log(text);

/** @param {string} text */
export const title = (text) => say(`\n${bold(text)}\n`);

/** Cut or filled to a width. @param {string} text @param {number} width */
export const fit = (text, width) => (text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width));

/**
 * Columns as wide as they need to be, up to a limit.
 * @param {string[]} heads @param {string[][]} rows @param {number} [maxWidth]
 */
export function table(heads, rows, maxWidth = 34) {
  const widths = heads.map((head, i) =>
    Math.min(maxWidth, Math.max(...[[...heads], ...rows].map((row) => row[i]?.length ?? 0), head.length)),
  );
  const line = (/** @type {string[]} */ row) =>
    row
      .map((cell, i) => fit(cell, widths[i] ?? 0))
      .join("  ")
      .trimEnd();
  say(`  ${dim(line(heads))}`);
  for (const row of rows) say(`  ${line(row)}`);
}
