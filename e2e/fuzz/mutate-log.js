// Damage to a log that knows its checksums: most often they are put right afterwards, so that what was changed is believed.
import { mutateLength, mutatePages } from "./mutate-pages.js";

/** @typedef {import("./chance.js").Chance} Chance */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** @param {Uint8Array} log @param {Chance} chance */
export function mutateLog(log, chance) {
  let copy = log.slice();
  const view = new DataView(copy.buffer);
  const pageSize = view.getUint32(8);
  const stride = FRAME_HEADER_BYTES + pageSize;
  const frames = Math.floor((copy.length - HEADER_BYTES) / stride);
  const anyFrame = () => HEADER_BYTES + stride * chance.below(frames);
  for (let left = 1 + chance.below(3); left > 0; left--) {
    const at = anyFrame();
    const page = copy.subarray(at + FRAME_HEADER_BYTES, at + stride);
    switch (chance.below(6)) {
      case 0:
        page.set(mutatePages(page, pageSize, chance));
        break;
      case 1: // page number, or the pages after the transaction
        view.setUint32(at + chance.pick([0, 4]), chance.number());
        break;
      case 2: // salts and checksums
        view.setUint32(at + chance.pick([8, 12, 16, 20]), chance.number());
        break;
      case 3: // a frame in another one's place
        copy.copyWithin(at, anyFrame(), HEADER_BYTES + stride * frames);
        break;
      case 4: // magic, version, page size, sequence, salts
        view.setUint32(chance.pick([0, 4, 8, 12, 16, 20]), chance.pick([512, 1024, 65536, chance.number()]));
        break;
      default:
        copy[chance.below(copy.length)] = chance.below(256);
    }
  }
  if (chance.maybe(0.7)) mend(copy, pageSize);
  if (chance.maybe(0.2)) copy = mutateLength(copy, chance);
  return copy;
}

/** Makes every checksum right, and every frame this log's. @param {Uint8Array} log @param {number} pageSize */
function mend(log, pageSize) {
  const view = new DataView(log.buffer, log.byteOffset, log.length);
  const isLittle = (view.getUint32(0) & 1) === 0;
  let sums = addUp(view, 0, HEADER_BYTES - 8, [0, 0], isLittle);
  view.setUint32(24, sums[0]);
  view.setUint32(28, sums[1]);
  const stride = FRAME_HEADER_BYTES + pageSize;
  for (let at = HEADER_BYTES; at + stride <= log.length; at += stride) {
    view.setUint32(at + 8, view.getUint32(16));
    view.setUint32(at + 12, view.getUint32(20));
    sums = addUp(view, at, 8, sums, isLittle);
    sums = addUp(view, at + FRAME_HEADER_BYTES, pageSize, sums, isLittle);
    view.setUint32(at + 16, sums[0]);
    view.setUint32(at + 20, sums[1]);
  }
}

/**
 * @param {DataView} view
 * @param {number} at
 * @param {number} bytes
 * @param {readonly [number, number]} before
 * @param {boolean} isLittle
 * @returns {readonly [number, number]}
 */
function addUp(view, at, bytes, [a, b], isLittle) {
  let [s1, s2] = [a, b];
  for (let i = at; i < at + bytes; i += 8) {
    s1 = (s1 + view.getUint32(i, isLittle) + s2) >>> 0;
    s2 = (s2 + view.getUint32(i + 4, isLittle) + s1) >>> 0;
  }
  return [s1, s2];
}

/** How much of a log SQLite would read: up to the end of the last whole transaction. @param {Uint8Array} log */
export function countedBytes(log) {
  const view = new DataView(log.buffer, log.byteOffset, log.length);
  if (log.length < HEADER_BYTES) return 0;
  const isLittle = (view.getUint32(0) & 1) === 0;
  const stride = FRAME_HEADER_BYTES + view.getUint32(8);
  let sums = addUp(view, 0, HEADER_BYTES - 8, [0, 0], isLittle);
  let counted = HEADER_BYTES;
  for (let at = HEADER_BYTES; at + stride <= log.length; at += stride) {
    sums = addUp(view, at, 8, sums, isLittle);
    sums = addUp(view, at + FRAME_HEADER_BYTES, stride - FRAME_HEADER_BYTES, sums, isLittle);
    const isOurs = view.getUint32(at + 8) === view.getUint32(16) && view.getUint32(at + 12) === view.getUint32(20);
    if (!isOurs || view.getUint32(at + 16) !== sums[0] || view.getUint32(at + 20) !== sums[1]) break;
    if (view.getUint32(at + 4) !== 0) counted = at + stride;
  }
  return counted;
}
