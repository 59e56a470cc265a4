// The connection to one place: opened when it is needed, opened again when it was lost, and always to the same database
// as before. It knows nothing of what is stored, but for whose it is.
import type { UseStore } from "idb-keyval";
import { StorageRefused } from "../../src/errors.ts";
import { isFinal, openFailure } from "./failures.ts";
import { type Life, sameLife } from "./frame.ts";
import { decodeHead } from "./head.ts";
import { HEAD_KEY } from "./layout.ts";
import { openDatabase, type WhenMissing } from "./opening.ts";
import { Patience } from "./patience.ts";
import { Pause } from "./pause.ts";
import type { Platform } from "./platform.ts";
import { beginTransaction, type Inside, runTransaction } from "./transaction.ts";

export class Connection {
  readonly platform: Platform;
  readonly place: string;
  readonly #durability: "strict" | "relaxed";
  readonly #patience: Patience;
  readonly #pause: Pause;
  #db: IDBDatabase | null = null;
  /** Shared by all who need it; forgotten as soon as it is settled. */
  #opening: Promise<IDBDatabase> | null = null;
  #life: Life | null = null;
  #closed = false;

  constructor(
    platform: Platform,
    place: string,
    durability: "strict" | "relaxed",
    limitMs: number,
    pause: Pause = new Pause(),
  ) {
    this.platform = platform;
    this.place = place;
    this.#durability = durability;
    this.#patience = new Patience(platform, limitMs);
    this.#pause = pause;
  }

  /** Whose database it is. Known once it was opened. */
  get life(): Life {
    if (this.#life === null) throw new Error("the connection was never opened");
    return this.#life;
  }

  /** What is open now, for whoever wants to know later whether it is still the same; or null. */
  get handle(): object | null {
    return this.#db;
  }

  /** Opens it for the first time. */
  async open(whenMissing: WhenMissing): Promise<void> {
    await this.#connect(whenMissing);
  }

  /**
   * One transaction, tried once; but one that a stop of the page cut short is begun anew when the page goes on. Rejects
   * with `TransactionFailed`, with what `work` throws, or with a `PerdureError` when there is no connection to be had.
   */
  transact<T>(mode: "readonly" | "readwrite", work: (inside: Inside) => Promise<T>): Promise<T> {
    return this.#run(mode, this.#durability, work);
  }

  /**
   * The same for what others rely on too: always strict. Chromium keeps large values in files of their own, and a
   * relaxed transaction that deletes records for them would take strict commits of other tabs with it.
   */
  transactStrictly<T>(work: (inside: Inside) => Promise<T>): Promise<T> {
    return this.#run("readwrite", "strict", work);
  }

  /** It does not work any more, or the page may stop: the next transaction opens another one. */
  drop(): void {
    this.#db?.close();
    this.#db = null;
  }

  /** No more. What is under way finishes by itself. */
  close(): void {
    this.#closed = true;
    this.drop();
  }

  #run<T>(
    mode: IDBTransactionMode,
    durability: "strict" | "relaxed",
    work: (inside: Inside) => Promise<T>,
  ): Promise<T> {
    const use = this.#using(durability);
    return this.#pause.outside(() => use(mode, (store) => runTransaction(this.#patience, this.#pause, store, work)));
  }

  /** A `UseStore` of idb-keyval, with a durability. */
  #using(durability: "strict" | "relaxed"): UseStore {
    return async (mode, work) => work(beginTransaction(this.#db ?? (await this.#connect("refuse")), mode, durability));
  }

  async #connect(whenMissing: WhenMissing): Promise<IDBDatabase> {
    if (this.#db !== null) return this.#db;
    this.#opening ??= this.#openTwice(whenMissing).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #openTwice(whenMissing: WhenMissing): Promise<IDBDatabase> {
    const open = (): Promise<IDBDatabase> => this.#pause.outside(() => this.#open(whenMissing));
    try {
      return await open();
    } catch (error) {
      // Browsers fail now and then while they recover from something; once more, and at once.
      if (isFinal(error)) throw openFailure(this.place, error);
    }
    try {
      return await open();
    } catch (error) {
      throw openFailure(this.place, error);
    }
  }

  async #open(whenMissing: WhenMissing): Promise<IDBDatabase> {
    const db = await openDatabase(this.platform, this.#patience, this.#pause, this.place, whenMissing);
    const forget = (): void => {
      if (this.#db === db) this.#db = null;
    };
    // Another tab deletes the database, or a newer version of the app upgrades it: it waits for us.
    db.addEventListener("versionchange", () => {
      forget();
      db.close();
    });
    // The server was lost, or the site's data was cleared.
    db.addEventListener("close", forget);
    try {
      await this.#recognise(db);
    } catch (error) {
      db.close();
      throw error;
    }
    if (this.#closed) db.close();
    else this.#db = db;
    return db;
  }

  /** While a connection is open nobody can put another database in its place; before, somebody may have. */
  async #recognise(db: IDBDatabase): Promise<void> {
    const store = beginTransaction(db, "readonly", "relaxed");
    const value = await runTransaction(this.#patience, this.#pause, store, (inside) =>
      inside.ask<unknown>(store.get(HEAD_KEY)),
    );
    const { life } = decodeHead(value, this.place);
    if (this.#life === null) this.#life = life;
    else if (!sameLife(this.#life, life)) {
      const problem = "it was deleted and made anew behind this store; open it again to take what is there";
      throw new StorageRefused("storage-replaced", this.place, problem);
    }
  }
}
