// The places whose every write and sync is crashed, on simulated disks.
import { AsyncSqliteStore } from "perdure";
import { asyncFileAdapter, fileAdapter } from "perdure/file";
import { crashEverywhere } from "perdure/testing";
import { randomFrom } from "../../demo/random.js";
import { FOLDER, install, mount } from "./mount.js";
import { ALONE, checkWhatIsLeft, SHARED } from "./scenarios.js";

/**
 * @typedef {import("./scenarios.js").Scenario} Scenario
 * @typedef {import("./scenarios.js").Durability} Durability
 * @typedef {Omit<import("perdure/testing").CrashOptions<import("./scenarios.js").Store, import("./books.js").Fact>, "scenario" | "invariant">} How
 * @typedef {{ place: "file" | "opfs", scenario: Scenario, durability: Durability }} Case
 */

/** @type {Case[]} */
export const CASES = [
  ...SHARED.map((scenario) => ({ place: /** @type {const} */ ("file"), scenario })),
  ...ALONE.map((scenario) => ({ place: /** @type {const} */ ("opfs"), scenario })),
].flatMap((one) => [
  { ...one, durability: /** @type {const} */ ("strict") },
  { ...one, durability: /** @type {const} */ ("relaxed") },
]);

/** @param {Case} one */
export const nameOf = ({ place, scenario, durability }) => `${place}, ${scenario.name}, ${durability}`;

/**
 * Crashes one case everywhere.
 * @param {Case} one @param {How} [how]
 * @returns {Promise<import("perdure/testing").CrashReport>}
 */
export async function crash({ place, scenario, durability }, how = {}) {
  // Every seed is another life: other bytes at other places.
  const random = randomFrom(how.seed ?? 0);
  // Few frames, so that a short life goes through checkpoints.
  // Who waits for a process that meets an error waits in vain: all of them run on one thread.
  const options = { durability, busyTimeoutMs: 50, checkpointFrames: 8 + Math.floor(random() * 16) };
  const sizes = { small: 50 + Math.floor(random() * 500), large: 6000 + Math.floor(random() * 12_000) };
  const adapter = scenario.Store === AsyncSqliteStore ? asyncFileAdapter : fileAdapter;
  /** @type {import("perdure/testing").CrashOptions<import("./scenarios.js").Store, import("./books.js").Fact>} */
  const all = {
    ...how,
    Store: scenario.Store,
    storeOptions: { traceMax: null },
    options,
    scenario: (context) => scenario.run(context, sizes),
    invariant: (left) => checkWhatIsLeft(left, durability),
  };
  if (place === "opfs") return crashEverywhere(all);
  const uninstall = install();
  try {
    return await crashEverywhere({
      ...all,
      place: (disk) => {
        mount(disk);
        return adapter(`${FOLDER}/store.db`, options);
      },
    });
  } finally {
    uninstall();
  }
}
