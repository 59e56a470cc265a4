// Gaps in what is left of a place: how far apart pages can be that belong together, and one word for many that are missing.

/** For each page that is there so many may be missing: beyond that, a number somebody stored is no page's. */
const MOST_GAPS = 1000;

/** The most pages that a place can have had of which so many are there. A number may say anything, and costs nothing. */
export const mostPages = (there: number): number => there * MOST_GAPS;

/** Numbers in their order, as first and last of those that follow each other. */
export function spans(numbers: Iterable<number>): [first: number, last: number][] {
  const found: [number, number][] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found;
}

/** "page 3 is", "pages 3 to 5 are". */
export function these(what: string, first: number, last: number, of = ""): string {
  return first === last ? `${what} ${first}${of} is` : `${what}s ${first} to ${last}${of} are`;
}
