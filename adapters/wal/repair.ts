// What must be put right in storage before anything else is done there: what failed may have left something that nobody may
// find. Knows nothing of what that is.
import { FlushFailed, PerdureError } from "../../src/errors.ts";
import type { Program } from "./program.ts";

export class Repair {
  readonly #place: string;
  #work: (() => Program<void>) | null = null;

  constructor(place: string) {
    this.#place = place;
  }

  get isDue(): boolean {
    return this.#work !== null;
  }

  /** What is to be done should the next step fail. From now on it is due. */
  plan(work: () => Program<void>): void {
    this.#work = work;
  }

  /** The step did not fail. */
  cancel(): void {
    this.#work = null;
  }

  /** Does what is due, if anything. Throws `FlushFailed`, or what refused it: then it stays due. */
  *run(): Program<void> {
    if (this.#work === null) return;
    try {
      yield* this.#work();
      this.#work = null;
    } catch (error) {
      throw error instanceof PerdureError ? error : new FlushFailed(this.#place, error);
    }
  }

  /** The same, never throwing: what made it necessary is what is told. The next write tries again before all else. */
  *attempt(): Program<void> {
    try {
      yield* this.run();
    } catch {
      // Said above.
    }
  }
}
