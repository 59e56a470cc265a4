// Opens the IndexedDB database of a place, once, in bounded time. An open that comes too late is undone: a database that
// it made is not kept, a connection that it got is closed.
import { StorageRefused } from "../../src/errors.ts";
import { noAnswer, nameOf } from "./failures.ts";
import { newLife } from "./frame.ts";
import { encodeHead } from "./head.ts";
import { databaseName, FORMAT, HEAD_KEY, OBJECT_STORE, recordKey } from "./layout.ts";
import { encodeParts, newToken } from "./parts.ts";
import type { Patience } from "./patience.ts";
import { CutShort, type Pause } from "./pause.ts";
import type { Platform } from "./platform.ts";
import { encodeDelta } from "./record.ts";

/** Whether a database may be made where none is. */
export type WhenMissing = "create" | "refuse";

export function openDatabase(
  platform: Platform,
  patience: Patience,
  pause: Pause,
  place: string,
  whenMissing: WhenMissing,
): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const factory = platform.indexedDB();
    if (factory === undefined || factory === null) {
      throw new StorageRefused("unsupported", place, "there is no IndexedDB here");
    }
    let given = true;
    let missing = false;
    const request = factory.open(databaseName(place), FORMAT);
    const end = (): void => {
      waiting.end();
      unguard();
    };
    const giveUp = (why: Error): void => {
      given = false;
      end();
      reject(why);
    };
    const waiting = patience.wait(() => giveUp(noAnswer(place)));
    const unguard = pause.guard(() => {
      // Everybody waits for a database that is being made.
      giveUp(new CutShort());
      try {
        request.transaction?.abort();
      } catch {
        // It is made.
      }
    });
    request.addEventListener("upgradeneeded", () => {
      missing = true;
      if (!given || whenMissing === "refuse") request.transaction!.abort();
      else createLayout(request.result);
    });
    request.addEventListener("success", () => {
      end();
      const db = request.result;
      if (!given) return db.close();
      if (db.objectStoreNames.contains(OBJECT_STORE)) return resolve(db);
      db.close();
      reject(new StorageRefused("not-a-database", place, `the IndexedDB ${databaseName(place)} holds something else`));
    });
    request.addEventListener("error", (event) => {
      // Firefox tells the page as a whole of it otherwise.
      event.preventDefault();
      end();
      const refused = missing && whenMissing === "refuse" && nameOf(request.error) === "AbortError";
      reject(refused ? nothingThere(place) : request.error);
    });
  });
}

function nothingThere(place: string): StorageRefused {
  return new StorageRefused("storage-missing", place, "nothing is there; it was deleted, or the browser evicted it");
}

/** An empty database: its life begins here, in the transaction that makes it, so that there is only one. */
function createLayout(db: IDBDatabase): void {
  const store = db.createObjectStore(OBJECT_STORE);
  const life = newLife();
  store.add(encodeHead({ life, sequence: 0, pageSize: 0, keptFrom: 0, blocks: [] }), HEAD_KEY);
  const nothing = encodeDelta({ pageSize: 0, pageCount: 0, pages: new Map() });
  for (const [part, value] of encodeParts(life, 0, newToken(), nothing).entries()) {
    store.add(value, recordKey(0, part));
  }
}
