// What the library promises itself, and what this run reached. A section that did not run leaves its targets out.

/** @typedef {{ target: string, asked: string, reached: number | null, ok: boolean }} Target */
/** @typedef {import("./sections/index.js").Results} Results */

/** @param {Results} results @returns {Target[]} */
export function judge(results) {
  /** @type {Target[]} */
  const targets = [];
  const atLeast = (
    /** @type {string} */ target,
    /** @type {number} */ asked,
    /** @type {number | null | undefined} */ reached,
    unit = "",
  ) =>
    targets.push({
      target,
      asked: `>= ${asked}${unit}`,
      reached: reached ?? null,
      ok: (reached ?? -Infinity) >= asked,
    });
  const atMost = (
    /** @type {string} */ target,
    /** @type {number} */ asked,
    /** @type {number | null | undefined} */ reached,
    unit = "",
  ) =>
    targets.push({ target, asked: `<= ${asked}${unit}`, reached: reached ?? null, ok: (reached ?? Infinity) <= asked });

  const { commits, growth, checkpoint, reads, opening, memory } = results;
  for (const [rows, contenders] of Object.entries(commits ?? {})) {
    const at = `at ${Number(rows) / 1000}k`;
    atLeast(`sync file commit, strict, to better-sqlite3 FULL, ${at}`, 1, contenders["strict"]?.ratio, " x");
    atLeast(`async with 64 in flight, to better-sqlite3 FULL, ${at}`, 5, contenders["async-64"]?.ratio, " x");
    atMost(`in-memory commit, CPU p50, ${at}`, 0.1, contenders["memory"]?.cpuP50, " ms");
  }
  if (growth) atMost("commit p50 at 100k to that at 1k", 1.2, growth.strict, " x");
  if (checkpoint) atMost("checkpoints move commit p99 by, at 100 MB", 20, checkpoint.movedMs, " ms");
  if (reads) {
    for (const name of ["file", "memory"]) {
      atLeast(`load, 1 KB, ${name}`, 20_000, reads["load"]?.[name]?.perSecond, " /s");
      atMost(`dueTimers p50, 50k timers, ${name}`, 0.5, reads["dueTimers"]?.[name]?.p50, " ms");
      atMost(`status page p50, 50k rows, ${name}`, 0.5, reads["status page"]?.[name]?.p50, " ms");
    }
  }
  if (opening) atMost("opening 100 MB to reading the file", 2, opening.ratio, " x");
  if (memory) atMost("resident memory besides the image, 100 MB", 64, memory.besidesImageMib, " MiB");
  return targets;
}
