// What is done to a place as a whole, without a store: laying a database into it, and taking it away.
import { FlushFailed, PerdureError, StorageRefused } from "../../src/errors.ts";
import { type Pages, pagesOf } from "../../src/port.ts";
import { type DatabaseFile, readDatabaseFile } from "../wal/database-file.ts";
import { Connection } from "./connection.ts";
import { noAnswer, openFailure, TransactionFailed } from "./failures.ts";
import { encodeBlock, encodeHead } from "./head.ts";
import { blockCount, blockKey, databaseName, HEAD_KEY, recordKey, recordsBefore } from "./layout.ts";
import { checkName, DEFAULT_OPEN_TIMEOUT_MS } from "./options.ts";
import { encodeParts, newToken } from "./parts.ts";
import { Patience } from "./patience.ts";
import type { Platform } from "./platform.ts";
import { encodeDelta } from "./record.ts";
import type { Inside } from "./transaction.ts";

/** Lays a database into a place where nothing is. Whole or not at all. */
export async function importInto(platform: Platform, name: string, files: DatabaseFile): Promise<void> {
  checkName("importDatabase", name);
  const pages = pagesOf(readDatabaseFile(files, name));
  const connection = new Connection(platform, name, "strict", DEFAULT_OPEN_TIMEOUT_MS);
  try {
    await connection.open("create");
    await connection.transactStrictly((inside) => layDown(inside, connection, pages));
  } catch (error) {
    throw error instanceof TransactionFailed
      ? new FlushFailed(name, error.cause, error.certain ? "undone" : "unknown")
      : error;
  } finally {
    connection.close();
  }
}

async function layDown({ store, ask }: Inside, { life, place, platform }: Connection, pages: Pages): Promise<void> {
  // It takes a number in the log: a store that opened the place when it was empty must not write over this.
  const sequence = 1;
  if (
    (await ask(store.getKey(recordKey(sequence, 0)))) !== undefined ||
    (await ask(store.getKey(recordKey(0, 0)))) === undefined
  ) {
    const problem = "there is a database already; delete that first, or take another name";
    throw new StorageRefused("storage-exists", place, problem);
  }
  const { pageSize, pageCount } = pages;
  const body = encodeDelta({ pageSize, pageCount, pages: new Map() });
  for (const [part, value] of encodeParts(life, sequence, newToken(), body).entries()) {
    store.add(value, recordKey(sequence, part));
  }
  const blocks = Array.from({ length: blockCount(pageCount, pageSize) }, () => sequence);
  for (const block of blocks.keys()) store.put(encodeBlock(life, sequence, block, pages), blockKey(block));
  store.put(encodeHead({ life, sequence, pageSize, keptFrom: sequence, blocks }), HEAD_KEY);
  store.delete(platform.range(...recordsBefore(sequence)));
}

/** Takes a place away, with all that is in it. */
export function deleteFrom(platform: Platform, name: string): Promise<void> {
  checkName("deleteDatabase", name);
  return new Promise<void>((resolve, reject) => {
    const factory = platform.indexedDB();
    if (factory === undefined || factory === null) {
      throw new StorageRefused("unsupported", name, "there is no IndexedDB here");
    }
    let isBlocked = false;
    const request = factory.deleteDatabase(databaseName(name));
    const waiting = new Patience(platform, DEFAULT_OPEN_TIMEOUT_MS).wait(() => {
      // What was asked cannot be taken back: it happens as soon as that tab lets go.
      const problem = "another tab has it open and does not let go; it is deleted when that tab is closed";
      reject(isBlocked ? new StorageRefused("open-timeout", name, problem) : noAnswer(name));
    });
    request.addEventListener("blocked", () => {
      isBlocked = true;
    });
    request.addEventListener("success", () => {
      waiting.end();
      resolve();
    });
    request.addEventListener("error", (event) => {
      event.preventDefault();
      waiting.end();
      reject(request.error);
    });
  }).catch((error: unknown) => {
    throw error instanceof PerdureError ? error : openFailure(name, error);
  });
}
