// A page that is stopped, as when it is kept for going back to it, keeps its transactions, and everybody else waits for
// them. So what is under way is cut short before, and begun anew when the page goes on; what is past its commit ends by
// itself. Knows no IndexedDB: who works says how it is cut short.

/** Thrown in place of a result: it was cut short, and nothing of it was kept. */
export class CutShort extends Error {
  override readonly name = "CutShort";
}

export class Pause {
  readonly #cuts: Set<() => void> = new Set();
  #over: { readonly promise: Promise<void>; resolve(): void } | null = null;

  begin(): void {
    if (this.#over !== null) return;
    let resolve = (): void => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    this.#over = { promise, resolve };
    const cuts = [...this.#cuts];
    this.#cuts.clear();
    for (const cut of cuts) cut();
  }

  end(): void {
    this.#over?.resolve();
    this.#over = null;
  }

  get isOn(): boolean {
    return this.#over !== null;
  }

  /** Settles when there is none. */
  async over(): Promise<void> {
    while (this.#over !== null) await this.#over.promise;
  }

  /** Does `work` when there is none, anew as often as one cuts it short. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.isOn) await this.over();
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof CutShort)) throw error;
      }
    }
  }

  /** Calls `cut` when one begins; what it returns ends that. */
  guard(cut: () => void): () => void {
    this.#cuts.add(cut);
    return () => this.#cuts.delete(cut);
  }
}
