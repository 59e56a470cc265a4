// In which order contenders take turns. What one leaves behind, in caches and on its way to the disk, is paid by the
// next one; so in n rounds each follows each other one about equally often (a Latin square as Williams built them).

/**
 * @param {number} round from 0
 * @param {number} count
 * @returns {number[]} the contenders by their numbers
 */
export function orderOf(round, count) {
  // 0, 1, n - 1, 2, n - 2, …: no step between neighbours comes twice.
  const order = Array.from({ length: count }, (_, i) => (round + (i % 2 === 1 ? (i + 1) / 2 : count - i / 2)) % count);
  return Math.floor(round / count) % 2 === 1 ? order.toReversed() : order;
}
