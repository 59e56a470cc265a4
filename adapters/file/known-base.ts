// Whether the base is still the database that the log belongs to. Somebody may have copied another one over it in place, or
// cut it: then neither its place nor its identity tells, and writing to it would mix the two. Asked only before the base
// is written, at a checkpoint, so that commits do not pay for it. Reads only.
import type { Pages } from "../../src/port.ts";
import type { Base } from "../wal/base.ts";
import type { Log } from "../wal/log.ts";
import { samePage } from "../wal/pages.ts";

/** Pages looked at besides the first. Another database has hardly one of them. */
const SAMPLES = 16;

export class KnownBase {
  readonly #base: Base;
  /** Page 1 as it was when we last looked, and as a checkpoint of ours may have left it since. It counts transactions. */
  #seen: readonly Uint8Array[];
  /** The log for which other pages were looked at: once in a checkpoint that takes many steps. */
  #sampled: number | null = null;

  constructor(base: Base) {
    this.#base = base;
    const page1 = base.page(1);
    this.#seen = page1 === null ? [] : [page1];
  }

  /**
   * Whether `pages` may be written to it now. `isLogged` tells which pages the log holds: all others must be there as they
   * are in memory. `isFirst`: look at those again.
   */
  admits(log: Log, pages: Pages, isLogged: (number: number) => boolean, isFirst: boolean): boolean {
    if (!this.#hasKnownStart(log, pages)) return false;
    const { salt1 } = log.position;
    if ((isFirst || this.#sampled !== salt1) && !this.#hasSamples(pages, isLogged)) return false;
    this.#sampled = salt1;
    this.#seen = [...this.#seen, pages.page(1).slice()];
    return true;
  }

  /** Whether the base has a first page that we know, or one that another store's checkpoint took from the log. */
  #hasKnownStart(log: Log, pages: Pages): boolean {
    const page1 = this.#base.page(1);
    if (page1 === null) return false;
    const isKnown = [...this.#seen, pages.page(1)].some((known) => samePage(known, page1)) || log.hasFrame(1, page1);
    if (isKnown) this.#seen = [page1];
    return isKnown;
  }

  /** The last page first: a file that was cut does not have it. */
  #hasSamples(pages: Pages, isLogged: (number: number) => boolean): boolean {
    const step = Math.ceil(pages.pageCount / SAMPLES);
    for (let number = pages.pageCount; number > 1;) {
      if (isLogged(number)) {
        number--;
        continue;
      }
      const stored = this.#base.page(number);
      if (stored === null || !samePage(stored, pages.page(number))) return false;
      number -= step;
    }
    return true;
  }
}
