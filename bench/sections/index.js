// The sections of the bench, in the order they run.
import { run as commits } from "./commits.js";
import { run as growth } from "./growth.js";
import { checkpoint, deltas, memory, opening } from "./large.js";
import { run as profile } from "./profile.js";
import { run as reads } from "./reads.js";

/**
 * @typedef {object} Context
 * @property {(rows: number) => Promise<{ plain: string, indexed: string }>} databases to start from, built on first use
 * @property {string} folder for the files of this section, emptied after it
 * @property {boolean} quick
 * @property {(text: string) => void} print
 */

export const SECTIONS = { commits, growth, deltas, checkpoint, reads, opening, memory, profile };
/** @typedef {keyof typeof SECTIONS} SectionName */
/** @typedef {{ [name in SectionName]?: Awaited<ReturnType<(typeof SECTIONS)[name]>> }} Results */

/** Runs only when named. @type {readonly SectionName[]} */
export const ON_REQUEST = ["profile"];
