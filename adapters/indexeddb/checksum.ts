// A checksum over words, to tell stored bytes that changed. Not against forgery.

/** The words of bytes, which are copied when they do not lie at a multiple of four. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  if (bytes.byteOffset % 4 !== 0) return wordsOf(bytes.slice());
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
}

/** 32 bits over `words` from `start` on. Two lanes, because one would wait for its own multiplications. */
export function checksum(words: Uint32Array, start = 0): number {
  let a = 0x9e3779b9;
  let b = 0x85ebca6b;
  const { length } = words;
  let i = start;
  for (; i + 1 < length; i += 2) {
    a = Math.imul((a ^ words[i]!) + 0x165667b1, 0x9e3779b1);
    a = (a << 13) | (a >>> 19);
    b = Math.imul((b ^ words[i + 1]!) + 0x27d4eb2f, 0x85ebca77);
    b = (b << 13) | (b >>> 19);
  }
  if (i < length) a = Math.imul(a ^ words[i]!, 0xc2b2ae3d);
  let h = a ^ ((b << 16) | (b >>> 16)) ^ (length - start);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
