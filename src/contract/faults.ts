// An adapter around an adapter: fails when told to, lets a flush wait, and writes down what the store asked for. Works
// around any adapter, so every target meets the same faults.
import type { AsyncAdapter, SyncAdapter } from "../port.ts";

/** Calls that may fail; of the others no adapter throws. */
export type FailingCall = "load" | "pull" | "lock" | "append";
type Call = FailingCall | "checkpoint" | "release" | "close";

/** A flush that waits. */
export interface Gate {
  /** Settles when the flush has come this far. */
  readonly reached: Promise<void>;
  /** Lets it go on. */
  open(): void;
}

/** What is to go wrong, and what was called. */
export class Faults {
  /** Each is thrown by one call, instead of asking the adapter. */
  readonly failing: { readonly [call in FailingCall]: Error[] } = {
    load: [],
    pull: [],
    lock: [],
    append: [],
  };
  /** Asked before each call; an error that it returns is thrown instead of asking the adapter. */
  before: (call: FailingCall) => Error | null = () => null;
  calls: Call[] = [];
  readonly #gates: { arrive: () => void; open: () => void; opened: Promise<void> }[] = [];
  #held: (() => void) | null = null;

  /** Makes the next append wait. Asynchronous adapters only. */
  hold(): Gate {
    const [reached, arrive] = signal();
    const [opened, open] = signal();
    this.#gates.push({ arrive, open, opened });
    return { reached, open };
  }

  /** How many appends there were, failed ones too. */
  get appends(): number {
    return this.calls.filter((call) => call === "append").length;
  }

  enter(call: Call): void {
    this.calls.push(call);
    if (!isFailing(call)) return;
    const error = this.failing[call].shift() ?? this.before(call);
    if (error !== null) throw error;
  }

  async passGate(): Promise<void> {
    const gate = this.#gates.shift();
    if (gate === undefined) return;
    this.#held = gate.open;
    gate.arrive();
    await gate.opened;
  }

  /** Nothing waits and nothing fails any more. */
  clear(): void {
    this.#held?.();
    this.#gates.length = 0;
    this.before = () => null;
    for (const errors of Object.values(this.failing)) errors.length = 0;
  }
}

const isFailing = (call: Call): call is FailingCall => ["load", "pull", "lock", "append"].includes(call);

export function withFaults(inner: SyncAdapter, faults: Faults): SyncAdapter {
  return {
    ...inner,
    load() {
      faults.enter("load");
      return inner.load();
    },
    pull(since, pages) {
      faults.enter("pull");
      return inner.pull(since, pages);
    },
    lock() {
      faults.enter("lock");
      const release = inner.lock();
      return () => {
        faults.enter("release");
        release();
      };
    },
    append(delta, after) {
      faults.enter("append");
      return inner.append(delta, after);
    },
    checkpoint(pages) {
      faults.enter("checkpoint");
      inner.checkpoint(pages);
    },
    close(pages) {
      faults.enter("close");
      inner.close(pages);
    },
  };
}

export function withFaultsAsync(inner: SyncAdapter | AsyncAdapter, faults: Faults): AsyncAdapter {
  return {
    ...inner,
    synchronous: false,
    async load() {
      faults.enter("load");
      return inner.load();
    },
    async pull(since, pages) {
      faults.enter("pull");
      return inner.pull(since, pages);
    },
    async lock() {
      faults.enter("lock");
      const release = await inner.lock();
      return () => {
        faults.enter("release");
        release();
      };
    },
    async append(delta, after) {
      await faults.passGate();
      faults.enter("append");
      return inner.append(delta, after);
    },
    async checkpoint(pages) {
      faults.enter("checkpoint");
      await inner.checkpoint(pages);
    },
    async close(pages) {
      faults.enter("close");
      await inner.close(pages);
    },
  };
}

function signal(): [Promise<void>, () => void] {
  let send = (): void => {};
  const sent = new Promise<void>((resolve) => {
    send = resolve;
  });
  return [sent, send];
}
