// What is left of a place in IndexedDB, read for salvage: in one transaction that writes nothing, without a lease, and
// whatever state it is in. Values that the browser itself cannot read are no more than missing.
import type { Remains } from "../../src/port.ts";
import { openFailure, readFailure } from "./failures.ts";
import { readBlock, readHead } from "./head.ts";
import { blocksFrom, HEAD_KEY, recordsFrom } from "./layout.ts";
import { openDatabase } from "./opening.ts";
import { checkName, DEFAULT_OPEN_TIMEOUT_MS } from "./options.ts";
import { readPart } from "./parts.ts";
import { Patience } from "./patience.ts";
import { Pause } from "./pause.ts";
import { ownPlatform, type Platform } from "./platform.ts";
import { type Found, putTogether, type Values } from "./remnants.ts";
import { beginTransaction, type Inside, runTransaction } from "./transaction.ts";

export { ownPlatform };

/** Asked for at once, as when a place is loaded. */
const VALUES_AT_ONCE = 16;

const UNREADABLE = "cannot be read by the browser";

/** Whatever can be read of a place. Throws `StorageRefused` when nothing is there, or nothing of ours. */
export async function remainsIn(platform: Platform, name: string): Promise<Remains> {
  checkName("salvage", name);
  const patience = new Patience(platform, DEFAULT_OPEN_TIMEOUT_MS);
  const pause = new Pause();
  const db = await openDatabase(platform, patience, pause, name, "refuse").catch((error: unknown) => {
    throw openFailure(name, error);
  });
  const read: Values[] = [];
  try {
    const store = beginTransaction(db, "readonly", "relaxed");
    await runTransaction(patience, pause, store, async (inside) => void read.push(await readAll(platform, inside)));
  } catch (error) {
    // Chromium aborts a transaction at its end in which it could not read a value. What it gave before is no less true.
    if (read.length === 0) throw readFailure(name, error);
  } finally {
    db.close();
  }
  return putTogether(name, read[0]!);
}

async function readAll(platform: Platform, inside: Inside): Promise<Values> {
  const head = await attempt(inside, inside.store.get(HEAD_KEY));
  return {
    head: head === null ? UNREADABLE : readHead(head.answer),
    blocks: await readEach(platform, inside, blocksFrom(0), readBlock),
    parts: await readEach(platform, inside, recordsFrom(0), readPart),
  };
}

/** Every value in a range of keys that are arrays, with its key. */
async function readEach<T>(
  platform: Platform,
  inside: Inside,
  [first, last]: readonly [IDBValidKey, IDBValidKey],
  read: (value: unknown) => T | string,
): Promise<Found<T>[]> {
  const { store, ask } = inside;
  const found: Found<T>[] = [];
  for (let from = first; ;) {
    const range = platform.range(from, last);
    const together = attempt<unknown[]>(inside, store.getAll(range, VALUES_AT_ONCE));
    const keys = (await ask(store.getAllKeys(range, VALUES_AT_ONCE))) as IDBValidKey[][];
    const values = await together;
    for (const [i, key] of keys.entries()) {
      // One that cannot be read takes all those with it that were asked for at once.
      const value = values === null ? await attempt<unknown>(inside, store.get(key)) : { answer: values.answer[i] };
      found.push({ numbers: key.slice(1).map(wholeNumber), read: value === null ? UNREADABLE : read(value.answer) });
    }
    if (keys.length < VALUES_AT_ONCE) return found;
    // Nothing sorts between a key and this one.
    from = [...keys.at(-1)!, -Infinity];
  }
}

const wholeNumber = (step: IDBValidKey): number => (Number.isSafeInteger(step) ? Number(step) : NaN);

/** Waits for a request that may fail without taking the transaction with it; null when it does. */
async function attempt<T>({ ask }: Inside, request: IDBRequest<T>): Promise<{ readonly answer: T } | null> {
  request.addEventListener("error", (event) => {
    event.preventDefault();
    event.stopPropagation();
  });
  return ask(request).then(
    (answer) => ({ answer }),
    () => null,
  );
}
