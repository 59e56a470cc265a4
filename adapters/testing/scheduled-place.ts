// A place in memory for several stores, in which every step of every adapter waits until a schedule lets it go on. Its
// lease can be stolen, as a frozen tab's is; what is in the log then decides (L4). It keeps every state it ever had.
import { Database } from "../../src/engine/database.ts";
import { loadEngine } from "../../src/engine/engine.ts";
import { Fenced, FlushFailed } from "../../src/errors.ts";
import { type AsyncAdapter, CHUNK_BYTES, type LoadedImage, type PageDelta, type Position } from "../../src/port.ts";

const PAGE_BYTES = 4096;

/** Waits for its turn. */
export type Step = (label: string) => Promise<void>;

interface LogPosition extends Position {
  readonly at: number;
}

interface State {
  readonly pageCount: number;
  readonly pages: ReadonlyMap<number, Uint8Array>;
}

interface Waiting {
  /** Called with the lease. */
  grant(): void;
}

export class ScheduledPlace {
  /** Steps go on at once until it is given a schedule. */
  step: Step = async () => {};
  /** The next append fails before anything of it is durable. */
  failsNext = false;
  /** After each transaction, from none. */
  readonly #states: State[] = [{ pageCount: 0, pages: new Map() }];
  readonly #queue: Waiting[] = [];
  #holder: object | null = null;

  /** How many transactions are durable. */
  get length(): number {
    return this.#states.length - 1;
  }

  adapter(): AsyncAdapter {
    return {
      synchronous: false,
      name: "scheduled",
      place: "schedule",
      supports: { durable: true, shared: true, strict: true },
      load: async () => ({ ...this.#imageAt(this.length), position: this.#here() }),
      pull: async (since) => {
        await this.step("pull");
        const { at } = since as LogPosition;
        if (at === this.length) return null;
        const news = { position: this.#here(), delta: this.#deltaSince(at) };
        await this.step("pulled");
        return news;
      },
      lock: async () => {
        await this.step("lock");
        return this.#lock();
      },
      append: async (delta, after) => {
        const copy = copyOf(delta);
        await this.step("append");
        if (this.failsNext) {
          this.failsNext = false;
          throw new FlushFailed("schedule", new Error("told to"));
        }
        if ((after as LogPosition).at !== this.length) throw new Fenced("schedule");
        this.#commit(copy);
        const position = this.#here();
        await this.step("appended");
        return position;
      },
      checkpoint: () => this.step("checkpoint"),
      close: () => this.step("close"),
    };
  }

  /** Whoever holds the lease has it no more, and does not know; the next one gets it. */
  steal(): void {
    if (this.#holder !== null) this.#passOn();
  }

  /** Versions of all Executions after so many transactions. */
  async versionsAt(length: number): Promise<Map<string, number>> {
    if (this.#states[length]!.pageCount === 0) return new Map();
    const database = new Database(await loadEngine(), this.#imageAt(length));
    try {
      const rows = database
        .prepare("SELECT id, version FROM executions")
        .all([], (row) => [row.text(0) ?? "", Number(row.text(1))] as const);
      return new Map(rows);
    } finally {
      database.close();
    }
  }

  #here(): LogPosition {
    return { adapter: "scheduled", at: this.length };
  }

  #lock(): Promise<() => void> {
    return new Promise((resolve) => {
      this.#queue.push({
        grant: () => {
          const hold = {};
          this.#holder = hold;
          resolve(() => {
            if (this.#holder === hold) this.#passOn();
          });
        },
      });
      if (this.#holder === null) this.#passOn();
    });
  }

  #passOn(): void {
    this.#holder = null;
    this.#queue.shift()?.grant();
  }

  #commit({ pageCount, pages }: PageDelta): void {
    this.#states.push({ pageCount, pages: new Map([...this.#states.at(-1)!.pages, ...pages]) });
  }

  #deltaSince(at: number): PageDelta {
    const [before, { pageCount, pages }] = [this.#states[at]!, this.#states.at(-1)!];
    const changed = [...pages].filter(([number, bytes]) => number <= pageCount && before.pages.get(number) !== bytes);
    return { pageSize: PAGE_BYTES, pageCount, pages: new Map(changed.sort(([a], [b]) => a - b)) };
  }

  #imageAt(length: number): LoadedImage {
    const { pageCount, pages } = this.#states[length]!;
    const count = Math.ceil((pageCount * PAGE_BYTES) / CHUNK_BYTES);
    const chunks = Array.from({ length: count }, () => new Uint8Array(CHUNK_BYTES));
    for (const [number, bytes] of pages) {
      const at = (number - 1) * PAGE_BYTES;
      if (number <= pageCount) chunks[Math.floor(at / CHUNK_BYTES)]!.set(bytes, at % CHUNK_BYTES);
    }
    return { pageSize: PAGE_BYTES, pageCount, chunks };
  }
}

/** The store goes on with its pages while the append waits. */
function copyOf({ pageSize, pageCount, pages }: PageDelta): PageDelta {
  return { pageSize, pageCount, pages: new Map([...pages].map(([number, bytes]) => [number, bytes.slice()])) };
}
