// Draws how long a commit takes as an SVG: a line for each contender, a dot for each size, on a logarithmic scale.
import { ENTRIES } from "./client/contenders/index.js";

/** @typedef {import("./sections/commits.js").Commits} Commits */

const WIDTH = 960;
const LEFT = 410;
const RIGHT = 60;
const ROW = 26;
const HEAD = 64;
const PANEL_HEAD = 40;
const FOOT = 44;

/** Dots from the small database to the large one. */
const RADII = [3.5, 5, 6.5];
const COLOURS = Object.freeze({ ours: "#0b7a53", bare: "#8a8f98", naive: "#c2410c", peer: "#3b5bdb" });

/**
 * @param {readonly Commits[]} commits
 * @param {string} where it was measured
 * @returns {string}
 */
export function drawChart(commits, where) {
  const panels = /** @type {const} */ (["strict", "relaxed"]).map((durability) => ({
    durability,
    rows: rowsOf(commits.filter((one) => one.durability === durability)),
  }));
  const values = panels.flatMap(({ rows }) => rows.flatMap(({ dots }) => dots.map(({ ms }) => ms)));
  const [low, high] = [
    10 ** Math.floor(Math.log10(Math.min(...values))),
    10 ** Math.ceil(Math.log10(Math.max(...values))),
  ];
  const x = (/** @type {number} */ ms) =>
    LEFT + ((Math.log10(ms) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))) * (WIDTH - LEFT - RIGHT);
  const height = HEAD + FOOT + panels.reduce((sum, { rows }) => sum + PANEL_HEAD + rows.length * ROW, 0);
  const sizes = [...new Set(commits.map(({ megabytes }) => megabytes))].sort((a, b) => a - b);
  /** @type {string[]} */
  const parts = [
    text(24, 30, "How long a commit takes", "title"),
    text(
      24,
      50,
      `median, milliseconds, logarithmic; databases of ${sizes.join(", ")} MB, the larger the dot the larger. ${where}.`,
      "note",
    ),
  ];
  let top = HEAD;
  for (const { durability, rows } of panels) {
    const bottom = top + PANEL_HEAD + rows.length * ROW;
    for (let ms = low; ms <= high; ms *= 10) {
      parts.push(`<path class="grid" d="M${x(ms)} ${top + PANEL_HEAD - 6}V${bottom}"/>`);
      parts.push(text(x(ms), top + PANEL_HEAD - 12, `${ms}`, "tick"));
    }
    parts.push(text(24, top + PANEL_HEAD - 12, durability, "panel"));
    for (const [at, { label, kind, dots }] of rows.entries()) {
      const y = top + PANEL_HEAD + at * ROW + ROW / 2;
      const [first, last] = [Math.min(...dots.map(({ ms }) => x(ms))), Math.max(...dots.map(({ ms }) => x(ms)))];
      parts.push(text(24, y + 4, label, kind === "ours" ? "ours" : "label"));
      parts.push(`<path d="M${first} ${y}H${last}" stroke="${COLOURS[kind]}" stroke-width="2" opacity=".35"/>`);
      for (const { ms, megabytes } of dots) {
        const radius = RADII[sizes.indexOf(megabytes)] ?? 4;
        parts.push(
          `<circle cx="${x(ms).toFixed(1)}" cy="${y}" r="${radius}" fill="${COLOURS[kind]}" fill-opacity=".75"><title>${escape(label)}, ${megabytes} MB: ${ms.toPrecision(3)} ms</title></circle>`,
        );
      }
      const values = dots.map(({ ms }) => shortly(ms)).join(" · ");
      // On the other side where there is no room.
      parts.push(
        last > WIDTH - 200 ? text(first - 10, y + 4, values, "value before") : text(last + 12, y + 4, values, "value"),
      );
    }
    top = bottom;
  }
  parts.push(
    text(
      24,
      height - 16,
      "OPFS stores run in a worker, IndexedDB stores in the window. Grey: what IndexedDB itself takes.",
      "note",
    ),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="How long a commit takes">
<style>
text { font: 13px system-ui, sans-serif; fill: #333a45 }
.title { font-size: 18px; font-weight: 600; fill: #12161c }
.note, .value { font-size: 12px; fill: #6b7280 }
.before { text-anchor: end }
.tick { font-size: 11px; fill: #8a8f98; text-anchor: middle }
.panel { font-size: 14px; font-weight: 600; fill: #12161c }
.ours { font-weight: 600; fill: ${COLOURS.ours} }
.grid { stroke: #e5e7eb }
</style>
<rect width="${WIDTH}" height="${height}" rx="10" fill="#fff"/>
${parts.join("\n")}
</svg>
`;
}

/** A row for each contender, the fastest first. @param {readonly Commits[]} commits of one durability */
function rowsOf(commits) {
  /** @type {Map<string, { label: string, kind: "ours" | "bare" | "naive" | "peer", dots: { megabytes: number, ms: number }[] }>} */
  const rows = new Map();
  for (const { megabytes, durability, results } of commits) {
    for (const [name, { p50 }] of Object.entries(results)) {
      const entry = ENTRIES[name];
      // In flight with others a commit waits for its turn: that is no longer a question of how long.
      if (entry === undefined || entry.lanes > 1) continue;
      const row = rows.get(name) ?? {
        label: entry.label[durability].replace(/, (strict|relaxed)$/, ""),
        kind: entry.kind,
        dots: [],
      };
      row.dots.push({ megabytes, ms: p50 });
      rows.set(name, row);
    }
  }
  const middle = (/** @type {{ dots: { ms: number }[] }} */ { dots }) => dots[Math.floor(dots.length / 2)]?.ms ?? 0;
  return [...rows.values()].sort((a, b) => middle(a) - middle(b));
}

/** @param {number} ms */
const shortly = (ms) => (ms >= 100 ? ms.toFixed(0) : ms.toPrecision(2));

/** @param {string} value */
const escape = (value) => value.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/** @param {number} x @param {number} y @param {string} value @param {string} kind */
const text = (x, y, value, kind) => `<text x="${x.toFixed(1)}" y="${y}" class="${kind}">${escape(value)}</text>`;
