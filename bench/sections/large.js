// What depends on a large database: opening it, having it open, checkpointing it.
import { number, table } from "../report.js";
import { runTask } from "../task.js";

/** Rows that make about 100 MB. */
const ROWS = 60_000;

/** @param {import("./index.js").Context} context @returns {Promise<import("../tasks/opening.js").Result>} */
export async function opening({ databases, folder, quick, print }) {
  const { indexed } = await databases(ROWS);
  /** @type {import("../tasks/opening.js").Result} */
  const found = await runTask("opening", { source: indexed, path: `${folder}/opening.db`, times: quick ? 5 : 11 });
  print(`\nOpening ${number(found.mib)} MiB (ms)`);
  print(
    table(
      ["", "p50", "ratio"],
      [
        ["fs.readFileSync of the file", found.readMs, 1],
        ["SqliteStore.create", found.openMs, found.ratio],
        ["SqliteStore.create, first of the process", found.coldMs, null],
        ["close", found.closeMs, null],
      ],
    ),
  );
  return found;
}

/** @param {import("./index.js").Context} context @returns {Promise<import("../tasks/memory.js").Result>} */
export async function memory({ databases, folder, quick, print }) {
  const { indexed } = await databases(ROWS);
  const options = { source: indexed, path: `${folder}/memory.db`, rows: ROWS, commits: quick ? 500 : 5000 };
  /** @type {import("../tasks/memory.js").Result} */
  const found = await runTask("memory", options);
  print(`\nResident memory with ${number(found.imageMib)} MiB open (MiB more than before the package was loaded)`);
  print(
    table(
      ["", "MiB", "besides the image"],
      [
        ["opened", found.openedMib, found.openedMib - found.imageMib],
        [`after ${options.commits} commits`, found.committedMib, found.committedMib - found.imageMib],
      ],
    ),
  );
  return found;
}

/** @param {import("./index.js").Context} context @returns {Promise<import("../tasks/checkpoint.js").Result>} */
export async function checkpoint({ databases, folder, quick, print }) {
  const { indexed } = await databases(ROWS);
  const options = { source: indexed, path: `${folder}/checkpoint.db`, rows: ROWS, commits: quick ? 3000 : 20_000 };
  /** @type {import("../tasks/checkpoint.js").Result} */
  const found = await runTask("checkpoint", options);
  print(
    `\nCheckpoints during ${options.commits} commits, strict (ms): ${found.calls} calls moved ${found.pages} pages, ` +
      `the longest took ${number(found.longestMs)} ms`,
  );
  const row = (/** @type {string} */ name, /** @type {import("../tasks/checkpoint.js").Latencies | null} */ one) => [
    name,
    one?.commits,
    one?.p50,
    one?.p99,
    one?.max,
  ];
  print(
    table(
      ["", "commits", "p50", "p99", "max"],
      [row("with checkpoint work, or right after", found.during), row("without", found.without)],
    ),
  );
  return found;
}

/** @param {import("./index.js").Context} context @returns {Promise<Record<string, import("../tasks/deltas.js").Count>>} */
export async function deltas({ databases, folder, quick, print }) {
  const rows = 10_000;
  const { indexed } = await databases(rows);
  /** @type {Record<string, import("../tasks/deltas.js").Count>} */
  const found = await runTask("deltas", {
    source: indexed,
    path: `${folder}/deltas.db`,
    rows,
    commits: quick ? 640 : 3200,
  });
  print(`\nWhat a commit hands to its adapter, at ${rows.toLocaleString("en")} executions`);
  print(
    table(
      ["", "appends", "pages", "KiB"],
      Object.entries(found).map(([name, { appends, pages, bytes }]) => [name, appends, pages, bytes / 1024]),
    ),
  );
  return found;
}
