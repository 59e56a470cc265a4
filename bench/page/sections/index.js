// What can be asked for with --only.
import * as commits from "./commits.js";
import * as growth from "./growth.js";
import * as opening from "./opening.js";
import * as syncs from "./syncs.js";
import * as weight from "./weight.js";

/** @typedef {import("../session.js").Tools} Tools */

export const SECTIONS = Object.freeze({
  weight: weight.run,
  commits: commits.run,
  growth: growth.run,
  opening: opening.run,
  syncs: syncs.run,
});
/** @typedef {keyof typeof SECTIONS} SectionName */
/** @typedef {{ [N in SectionName]?: Awaited<ReturnType<(typeof SECTIONS)[N]>> }} Results */
