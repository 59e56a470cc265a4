// What the tests of files share, whatever they lie in. Not part of the package.

/** A copy with other bytes from `at` on. */
export function patched(bytes: Uint8Array, at: number, ...values: number[]): Uint8Array {
  const copy = new Uint8Array(bytes); // a Buffer's slice would share its memory
  copy.set(values, at);
  return copy;
}
