// The databases to start from, which the server of the bench made.

/** @param {string} url @returns {Promise<Uint8Array<ArrayBuffer>>} as an engine without write-ahead log wants it */
export async function fetchImage(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  // Two bytes of the header say that there is a log; there is none.
  return bytes.fill(1, 18, 20);
}
