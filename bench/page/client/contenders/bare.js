// What no store on IndexedDB can be faster than: one transaction that puts bytes, and waits until it is complete. Which
// bytes was observed on the library's own commits.
import { observed } from "../observe.js";

const STORE = "records";

/** @param {string} place @returns {Promise<IDBDatabase>} */
function openDatabase(place) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(place, 1);
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE));
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}

/**
 * @param {string} place
 * @param {import("./index.js").Durability} durability
 * @param {readonly (readonly unknown[])[]} commits the values of each
 * @returns {Promise<import("./index.js").Contender>}
 */
async function openBare(place, durability, commits) {
  const database = await openDatabase(place);
  let sequence = 0;
  return {
    commit: () =>
      new Promise((resolve, reject) => {
        const transaction = database.transaction(STORE, "readwrite", { durability });
        transaction.addEventListener("complete", () => resolve());
        transaction.addEventListener("abort", () => reject(transaction.error));
        const store = transaction.objectStore(STORE);
        const values = commits[++sequence % commits.length] ?? [];
        for (const [part, value] of values.entries()) store.put(value, ["log", sequence, part]);
      }),
    close: () => database.close(),
  };
}

/** The values that commits stored, as they were. @param {string} place @param {import("./index.js").Durability} durability */
export async function openBareRecords(place, durability) {
  return openBare(
    place,
    durability,
    observed().map(({ values }) => values),
  );
}

/** The pages they changed, whole, in one value. @param {string} place @param {import("./index.js").Durability} durability */
export async function openBarePages(place, durability) {
  return openBare(
    place,
    durability,
    observed().map(({ pageBytes }) => [randomBytes(pageBytes)]),
  );
}

/** Bytes that do not compress. @param {number} count */
function randomBytes(count) {
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}
