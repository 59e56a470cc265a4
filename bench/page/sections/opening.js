// Opening 50 MB, to reading the same bytes with nothing around. Warm is in a page that opened before; cold is the first
// thing that a page does, with the WebAssembly to be made ready.
import { number, table } from "../../report.js";
import { median } from "../../stats.js";
import { withSession } from "../session.js";

const [WINDOW, WORKER] = /** @type {const} */ (["window", "worker"]);
const WAYS = Object.freeze({
  perdure: { label: "perdure/indexeddb", where: WINDOW, place: "opening" },
  bare: { label: "bare getAll of the same records", where: WINDOW, place: "opening" },
  "perdure-long": { label: "perdure/indexeddb, after 20,000 commits in a row", where: WINDOW, place: "opening-long" },
  "bare-long": { label: "bare getAll of these records", where: WINDOW, place: "opening-long" },
  "perdure-opfs": { label: "perdure/opfs", where: WORKER, place: "opening-file" },
  "bare-file": { label: "bare read of the same files", where: WORKER, place: "opening-file" },
  naive: { label: "idb-keyval get + sql.js", where: WINDOW, place: "opening-naive" },
});
/** @typedef {keyof typeof WAYS} WayName */

/** @typedef {{ warm: number[], cold: number[] }} Times */

/** @param {import("./index.js").Tools} tools */
export async function run(tools) {
  const { quick, print } = tools;
  const image = await tools.images(quick ? 10 : 50);
  const [warmRounds, coldRounds] = quick ? [3, 1] : [15, 5];
  const names = /** @type {WayName[]} */ (Object.keys(WAYS));
  /** @type {Record<WayName, Times>} */
  const times = await withSession(tools, async ({ ask, reload }) => {
    const found = /** @type {Record<WayName, Times>} */ ({});
    const time = (/** @type {WayName} */ way) => {
      const { where, place } = WAYS[way];
      return ask({ do: "time", key: place, where, way, place });
    };
    for (const way of names) {
      const { where, place } = WAYS[way];
      await ask({ do: "lay", key: place, where, way, place, image });
      found[way] = { warm: [], cold: [] };
    }
    for (let round = -1; round < warmRounds; round++) {
      for (const way of names) {
        const ms = await time(way);
        // The first is still cold.
        if (round >= 0) found[way].warm.push(ms);
      }
    }
    for (let round = 0; round < coldRounds; round++) {
      for (const way of names) {
        await reload();
        found[way].cold.push(await time(way));
      }
    }
    return found;
  });
  const ratio = (/** @type {WayName} */ ours, /** @type {WayName} */ bare) =>
    median(times[ours].warm.map((ms, round) => ms / (times[bare].warm[round] ?? NaN)));
  const ratios = {
    indexeddb: ratio("perdure", "bare"),
    longest: ratio("perdure-long", "bare-long"),
    opfs: ratio("perdure-opfs", "bare-file"),
  };
  print(`\nOpening ${number(image.bytes / 1e6)} MB (ms)`);
  print(
    table(
      ["", "warm", "cold"],
      names.map((way) => [WAYS[way].label, median(times[way].warm), median(times[way].cold)]),
    ),
  );
  return { bytes: image.bytes, times, ratios };
}
