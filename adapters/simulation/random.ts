// Random numbers that come the same every time: whatever a seed found can be found again.

/** Numbers from 0 up to 1, always the same ones for the same words. */
export function randomFrom(...words: (number | string)[]): () => number {
  let state = 0x9e3779b9;
  for (const char of words.join("\0")) state = scramble(state ^ char.codePointAt(0)!);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    return (scramble(state) >>> 0) / 4294967296;
  };
}

/** Mixes 32 bits (the finisher of MurmurHash3). */
function scramble(bits: number): number {
  let mixed = bits;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** A whole number from 0 up to `below`. */
export const whole = (random: () => number, below: number): number => Math.floor(random() * below);
