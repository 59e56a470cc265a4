// Choices made by a seed: the same seed, the same choices, everywhere.
import { randomFrom } from "../../demo/random.js";

/** @typedef {ReturnType<typeof chanceFrom>} Chance */

/** @param {number} seed */
export function chanceFrom(seed) {
  // Seeds in a row would begin alike.
  const random = randomFrom(Math.imul(seed ^ 0x5bd1e995, 0x9e3779b1) >>> 0);
  /** 0 to `count - 1`. @param {number} count */
  const below = (count) => Math.floor(random() * count);
  return {
    below,
    /** @param {number} probability */
    maybe: (probability) => random() < probability,
    /** @template T @param {readonly T[]} list @returns {T} */
    pick: (list) => /** @type {T} */ (list[below(list.length)]),
    /** @param {number} length */
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
    /** A number at which programs break, or any other. */
    number: () => (random() < 0.7 ? /** @type {number} */ (EDGES[below(EDGES.length)]) : below(2 ** 32)),
  };
}

const EDGES = [0, 1, 2, 3, 7, 8, 99, 127, 128, 255, 256, 511, 512, 4095, 4096, 4097, 32767, 32768, 65535, 65536];
EDGES.push(2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1);
