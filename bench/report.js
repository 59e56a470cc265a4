// Text for people: numbers with as many digits as they are worth, tables with aligned columns.

/** @param {number | null | undefined} value */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/**
 * The first column is text, the others are numbers.
 *
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number | null | undefined)[])[]} rows
 */
export function table(head, rows) {
  const cells = [head, ...rows.map((row) => row.map((cell) => (typeof cell === "string" ? cell : number(cell))))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .join("\n");
}
