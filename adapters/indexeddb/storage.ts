// One place in IndexedDB for one store: base and log, and where the store stands in them. Every write proves, inside its
// own transaction, that nobody wrote after what the store knows: a lease may be lost unnoticed (L4).
import { Fenced, FlushFailed, ImageCorrupt, PerdureError } from "../../src/errors.ts";
import type { LoadedImage, News, PageDelta, Pages, Position, Problem } from "../../src/port.ts";
import type { Connection } from "./connection.ts";
import { wordsOf } from "./checksum.ts";
import { domError, nameOf, readFailure, TransactionFailed, writeFailure } from "./failures.ts";
import { Folding } from "./fold.ts";
import { recordKey } from "./layout.ts";
import { loadPlace, type LoadedPlace, pageMissing, readRecords, refuseEmpty } from "./loading.ts";
import { LogIndex } from "./log-index.ts";
import { decodePart, encodeParts, type LogRecord, newToken, sameToken, type Token, tokenAfter } from "./parts.ts";
import { applyDelta, checkPages, encodeDelta, type Expected, headerOf, loggedAs } from "./record.ts";
import type { Inside } from "./transaction.ts";
import { damageOf, differences } from "./verify.ts";

/** A place in the log: the record that came last. */
export interface LogPosition extends Position {
  readonly sequence: number;
}

const at = (sequence: number): LogPosition => ({ adapter: "indexeddb", sequence });

export class Storage {
  readonly #connection: Connection;
  readonly #mustExist: boolean;
  readonly #folding: Folding;
  /** The last append's. */
  #token: Token = newToken();
  #index: LogIndex = new LogIndex();
  #sequence = 0;
  /** The store's pages, and the record after which they were known to be what storage has. */
  #known: { readonly pages: Pages; readonly sequence: number } | null = null;

  constructor(connection: Connection, { mustExist, foldBytes }: { mustExist: boolean; foldBytes: number | null }) {
    this.#connection = connection;
    this.#mustExist = mustExist;
    this.#folding = new Folding(foldBytes);
  }

  async load(): Promise<LoadedImage & { readonly position: Position }> {
    await this.#connection.open(this.#mustExist ? "refuse" : "create");
    const loaded = await this.#read((inside) => this.#load(inside));
    if (this.#mustExist && loaded.image.pageCount === 0) refuseEmpty(this.#connection.place);
    return { ...loaded.image, position: this.#take(loaded) };
  }

  /** What others committed, or null. One transaction, which has nothing to read when there is nothing new. */
  async pull({ sequence }: LogPosition, pages: Pages): Promise<News | null> {
    const { platform, life, place } = this.#connection;
    const found = await this.#read(async (inside): Promise<LoadedPlace | LogRecord[]> => {
      const known = inside.ask(inside.store.getKey(recordKey(sequence, 0)));
      const records: LogRecord[] = [];
      const newest = readRecords(platform, inside, life, sequence, place);
      const first = newest.next();
      // When `known` fails nobody waits for it.
      first.catch(() => {});
      // So far behind that records are gone which we would need.
      if ((await known) === undefined) {
        await first.catch(() => {});
        return this.#load(inside);
      }
      for (let step = await first; step.done !== true; step = await newest.next()) records.push(step.value);
      const otherSize = records.some(({ body }) => headerOf(body).pageSize !== pages.pageSize);
      return otherSize ? this.#load(inside) : records;
    });
    if (!Array.isArray(found)) {
      if (found.sequence < sequence) {
        const problem = `record ${sequence} of its log, which was there, is gone`;
        throw new ImageCorrupt(place, problem, { where: { part: "log", frame: sequence } });
      }
      return { position: this.#take(found), image: found.image };
    }
    if (found.length === 0) {
      this.#known = { pages, sequence };
      return null;
    }
    const delta = joinDeltas(found, pages, place);
    for (const record of found) this.#index.note(loggedAs(record));
    this.#sequence += found.length;
    return { position: at(this.#sequence), delta };
  }

  /**
   * Appends a record, in one transaction. When its end is not told, a second one on a fresh connection finds out, and
   * writes it when it is not there: it waits behind the first, so its answer counts.
   */
  async append(delta: PageDelta, after: LogPosition): Promise<LogPosition> {
    const { life, place } = this.#connection;
    const sequence = after.sequence + 1;
    const token = tokenAfter(this.#token);
    this.#token = token;
    const parts = encodeParts(life, sequence, token, encodeDelta(delta));
    let inDoubt = false;
    const resolved = (): void => {
      inDoubt = false;
    };
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#connection.transact("readwrite", async (inside) => {
          if (inDoubt && (await isThere(inside, sequence, token, this.#connection, resolved))) return;
          await addRecord(inside, sequence, parts, place);
        });
        break;
      } catch (error) {
        const failure = whatFailed(error, attempt);
        if (isFenced(failure)) throw new Fenced(place);
        inDoubt ||= failure instanceof TransactionFailed && !failure.certain;
        const hopeless = failure instanceof TransactionFailed && failure.timedOut && failure.certain;
        this.#connection.drop();
        if (attempt > 0 || hopeless || isQuota(failure) || failure instanceof PerdureError) {
          throw writeFailure(place, failure, inDoubt);
        }
      }
    }
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    this.#index.note({
      ...{ sequence, bytes, pages: delta.pages.keys() },
      pageSize: delta.pageSize,
      pageCount: delta.pageCount,
    });
    this.#sequence = sequence;
    return at(sequence);
  }

  checkpoint(pages: Pages): Promise<void> {
    this.#known = { pages, sequence: this.#sequence };
    return this.#folding.fold(this.#connection, this.#index, this.#sequence, pages);
  }

  /** Whether there is something to do once there is time. */
  get isLogLong(): boolean {
    return this.#known !== null && this.#folding.isLong(this.#index, this.#known.pages);
  }

  /** Does a slice of it, without the lease: it proves itself what it needs. False when nothing is left to do. */
  async foldIdle(): Promise<boolean> {
    if (this.#known === null) return false;
    const { pages, sequence } = this.#known;
    // Not our own sequence, which may be ahead of the pages: what others wrote the store has yet to take, or cannot.
    return this.#folding.slice(this.#connection, this.#index, sequence, pages);
  }

  async verify(pages: Pages): Promise<readonly Problem[]> {
    try {
      const { image } = await this.#read((inside) => this.#load(inside));
      return differences(image, pages);
    } catch (error) {
      if (error instanceof ImageCorrupt) return [damageOf(error)];
      throw error;
    }
  }

  #load(inside: Inside): Promise<LoadedPlace> {
    const { platform, life, place } = this.#connection;
    return loadPlace(platform, inside, life, place);
  }

  #take({ sequence, index }: LoadedPlace): LogPosition {
    this.#sequence = sequence;
    this.#index = index;
    this.#folding.begin(index);
    return at(sequence);
  }

  /** A read, and once more on a fresh connection when this one fails it. */
  async #read<T>(work: (inside: Inside) => Promise<T>): Promise<T> {
    const { place } = this.#connection;
    try {
      return await this.#connection.transact("readonly", work);
    } catch (error) {
      if (!(error instanceof TransactionFailed)) throw error;
      this.#connection.drop();
      if (error.timedOut) throw readFailure(place, error);
    }
    try {
      return await this.#connection.transact("readonly", work);
    } catch (error) {
      throw readFailure(place, error);
    }
  }
}

/** Writes a record behind the one we know, or throws `Fenced`. */
async function addRecord(
  { store, ask }: Inside,
  sequence: number,
  parts: readonly Uint8Array[],
  place: string,
): Promise<void> {
  // `add` refuses when the number is taken. It may be free again: whoever is far ahead folds, and takes records away,
  // but never the newest one. So the one before must be there as well. Asked for first: the answer is on its way while
  // the browser is still handed the record.
  const before = ask(store.getKey(recordKey(sequence - 1, 0)));
  for (const [part, value] of parts.entries()) void ask(store.add(value, recordKey(sequence, part))).catch(() => {});
  if ((await before) === undefined) throw new Fenced(place);
}

/** Whether the record is there, and is this very one. Calls `resolved` when what is found leaves no doubt. */
async function isThere(
  { store, ask }: Inside,
  sequence: number,
  token: Token,
  { life, place }: Connection,
  resolved: () => void,
): Promise<boolean> {
  const before = ask(store.getKey(recordKey(sequence - 1, 0)));
  const value = await ask<unknown>(store.get(recordKey(sequence, 0)));
  if (value === undefined) {
    // Somebody may have built on it, and folded it away.
    if ((await before) !== undefined) resolved();
    else throw new FlushFailed(place, domError("UnknownError", "the record is gone"), "unknown");
    return false;
  }
  resolved();
  if (sameToken(decodePart(value, life, sequence - 1, place).token, token)) return true;
  throw new Fenced(place);
}

/** A browser that gives no reason, twice and on two connections, has no space. */
function whatFailed(error: unknown, attempt: number): unknown {
  const silent = error instanceof TransactionFailed && !error.timedOut && (error.cause ?? null) === null;
  return silent && attempt > 0 ? new TransactionFailed(domError("QuotaExceededError", "no reason given"), true) : error;
}

const isQuota = (error: unknown): boolean =>
  error instanceof TransactionFailed && nameOf(error.cause) === "QuotaExceededError";

const isFenced = (error: unknown): boolean =>
  error instanceof Fenced || (error instanceof TransactionFailed && nameOf(error.cause) === "ConstraintError");

/** Several records as the pages that they make together. */
function joinDeltas(records: readonly LogRecord[], pages: Pages, place: string): PageDelta {
  const { pageSize } = pages;
  const changed = new Map<number, Uint8Array>();
  const expected: Expected = new Map();
  let { pageCount } = pages;
  /** Pages up to here are as the store has them; what comes behind is new. */
  let known = pageCount;
  const page = (number: number): Uint8Array => {
    const found = changed.get(number);
    if (found !== undefined) return found;
    const copy = number <= known ? pages.page(number).slice() : new Uint8Array(pageSize);
    changed.set(number, copy);
    return copy;
  };
  for (const { sequence, body } of records) {
    applyDelta(body, sequence, (number) => wordsOf(page(number)), expected);
    ({ pageCount } = headerOf(body));
    known = Math.min(known, pageCount);
    for (const number of changed.keys()) {
      if (number <= pageCount) continue;
      changed.delete(number);
      expected.delete(number);
    }
  }
  checkPages(expected, (number) => wordsOf(page(number)), place);
  for (let number = known + 1; number <= pageCount; number++) {
    if (!changed.has(number)) throw pageMissing(number, place);
  }
  return { pageSize, pageCount, pages: new Map([...changed].sort(([a], [b]) => a - b)) };
}
