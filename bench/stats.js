// The few numbers that samples are told by.

/**
 * @param {ArrayLike<number>} samples
 * @param {number} share 0.95 for p95
 */
export function percentile(samples, share) {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** @param {ArrayLike<number>} samples */
export function median(samples) {
  return percentile(samples, 0.5);
}

/** @param {readonly number[]} samples */
export function sum(samples) {
  return samples.reduce((total, one) => total + one, 0);
}

/** @param {readonly Float64Array[]} parts */
export function concat(parts) {
  const whole = new Float64Array(sum(parts.map((part) => part.length)));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
