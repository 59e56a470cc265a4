// What was crashed, as a table: places and boundaries down, ways to crash across.

/** The family a boundary belongs to, by the call and the file. @type {[RegExp, string][]} */
const FAMILIES = [
  [/^never/, "calls that were not reached"],
  [/^end$/, "at rest"],
  [/-lock/, "lease"],
  [/^(write|truncate) .*-wal$/, "log: write"],
  [/^sync .*-wal$/, "log: sync"],
  [/^names .*-wal$/, "log: made, replaced, removed"],
  [/^(write|truncate) /, "base: write (checkpoint, recovery)"],
  [/^sync names/, "folder: sync"],
  [/^sync /, "base: sync (checkpoint, recovery)"],
  [/^names /, "base: made"],
];
const MODES = ["kill", "lost", "torn", "error"];

/** @param {import("./worker.js").Result[]} results @returns {string[]} */
export function summarise(results) {
  /** @type {Map<string, Map<string, number>>} */
  const table = new Map();
  for (const { job, counts } of results) {
    for (const [key, count] of counts) {
      const [, mode = "", boundary = ""] = /^(\w+) at (.*)$/.exec(key) ?? [];
      const family = FAMILIES.find(([pattern]) => pattern.test(boundary))?.[1] ?? boundary;
      const row = `${job.name.split(",")[0]}, ${family}`;
      const cells = table.get(row) ?? new Map();
      table.set(row, cells.set(mode, (cells.get(mode) ?? 0) + count));
    }
  }
  const line = (/** @type {string} */ row, /** @type {unknown[]} */ cells) =>
    `${row.padEnd(44)}${cells.map((cell) => String(cell).padStart(9)).join("")}`;
  const rows = [...table].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    line("", MODES),
    ...rows.map(([row, cells]) =>
      line(
        row,
        MODES.map((mode) => cells.get(mode) ?? 0),
      ),
    ),
  ];
}
