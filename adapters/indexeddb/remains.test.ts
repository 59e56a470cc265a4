// What salvage finds of a place: histories of a database, some values of which are then gone or damaged. Every page is as
// it once was, and as it was last wherever its block and the records over it are whole (L7).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Image } from "../../src/engine/image.ts";
import type { Remains } from "../../src/port.ts";
import { adapterOn } from "./adapter.ts";
import { checksum, wordsOf } from "./checksum.ts";
import { decodeHead, type Head } from "./head.ts";
import { blockOf } from "./layout.ts";
import { remainsIn } from "./remains.ts";
import { PAGE_SIZE, type Step, step, take } from "./testing/histories.ts";
import { Site } from "./testing/site.ts";
import { type Entries, flipped, type Key, printed, raw } from "./testing/stored.ts";

/** After each record, the checksum of every page; the index is the page's number less one. */
type States = number[][];

const sumOf = (bytes: Uint8Array): number => checksum(wordsOf(bytes));

/** Lives through a history, and gives what there was after each record. */
async function live(site: Site, steps: readonly Step[], foldBytes: number): Promise<States> {
  const writer = adapterOn(site.tab(), "store", { foldBytes });
  let { position } = await writer.load();
  const image = new Image({ pageSize: PAGE_SIZE, pageCount: 0, chunks: [] });
  const states: States = [[]];
  for (const one of steps) {
    const delta = take(image, one);
    if (delta === null) continue;
    position = await writer.append(delta, position);
    image.settle();
    await writer.checkpoint(image);
    states.push(Array.from({ length: image.pageCount }, (_, i) => sumOf(image.page(i + 1))));
  }
  await writer.close(null);
  return states;
}

const DAMAGES = {
  gone: (store: IDBObjectStore, [key]: Entries[number]) => store.delete(key),
  flipped: (store: IDBObjectStore, [key, value]: Entries[number]) => store.put(flipped(value, 3), key),
  cut: (store: IDBObjectStore, [key, value]: Entries[number]) => store.put((value as Uint8Array).slice(0, 40), key),
  replaced: (store: IDBObjectStore, [key]: Entries[number]) => store.put("something else", key),
};

const damage = fc.record({ at: fc.nat(), how: fc.constantFrom(...Object.values(DAMAGES)) });

/** What must be found where the head is whole: the record that a page is as after, and whether its block is there. */
function expectation(head: Head, before: Entries, damaged: ReadonlySet<string>): (number: number) => Expected {
  const isWhole = (key: Key): boolean => !damaged.has(key.join());
  const whole = new Map<number, boolean>();
  for (const [key] of before) {
    if (key[0] !== "log") continue;
    const sequence = key[1]!;
    whole.set(sequence, (whole.get(sequence) ?? true) && isWhole(key));
  }
  return (number) => {
    const block = blockOf(number, PAGE_SIZE);
    const at = head.blocks[block] ?? 0;
    let after = Math.max(at, head.keptFrom - 1);
    const start = after;
    while (whole.get(after + 1) === true) after++;
    const isThere = at === 0 ? whole.get(start + 1) === true : isWhole(["base", block]);
    return { after, isCertain: isThere };
  };
}

interface Expected {
  readonly after: number;
  /** Otherwise it is there when a record after that has it whole. */
  readonly isCertain: boolean;
}

function check(found: Remains, states: States, expected: ((number: number) => Expected) | null): void {
  const always = Math.min(...states.slice(1).map(({ length }) => length));
  for (let number = 1; number <= Math.max(found.pageCount, always); number++) {
    const page = found.page(number);
    const sum = page === null ? null : sumOf(page);
    if (sum !== null && !states.some((state) => state[number - 1] === sum))
      throw new Error(`page ${number} is made up`);
    if (expected === null) continue;
    const { after, isCertain } = expected(number);
    const was = isCertain ? [states[after]!] : [[], ...states.slice(after)];
    if (was.every((state) => (state[number - 1] ?? null) !== sum)) {
      throw new Error(`page ${number} is not as after record ${after}`);
    }
  }
}

async function look(site: Site): Promise<Remains> {
  const before = printed(await raw(site));
  const found = await remainsIn(site.tab(), "store");
  expect(printed(await raw(site))).toEqual(before);
  return found;
}

const history = fc.tuple(fc.array(step, { minLength: 1, maxLength: 12 }), fc.constantFrom(1, 375, 2500, 10_000_000));

describe("L7 what is left of a place", () => {
  test("all of it, when it is sound", async () => {
    const property = fc.asyncProperty(history, async ([steps, foldBytes]) => {
      const site = new Site();
      const states = await live(site, steps, foldBytes);
      const found = await look(site);
      expect(found).toMatchObject({ pageSize: PAGE_SIZE, pageCount: states.at(-1)!.length, problems: [] });
      check(found, states, () => ({ after: states.length - 1, isCertain: true }));
    });
    await fc.assert(property, { numRuns: 30 });
  });

  test("every page as far as its chain goes, and each part that is not whole is told", async () => {
    const property = fc.asyncProperty(
      history,
      fc.array(damage, { minLength: 1, maxLength: 4 }),
      async (lived, damages) => {
        const site = new Site();
        const states = await live(site, ...lived);
        const before = await raw(site);
        const damaged = new Map<string, Key>();
        const after = await raw(site, (store) => {
          for (const { at, how } of damages) {
            const entry = before[at % before.length]!;
            if (damaged.has(entry[0].join())) continue;
            damaged.set(entry[0].join(), entry[0]);
            how(store, entry);
          }
        });
        const found = await look(site);
        const head = decodeHead(before.find(([[kind]]) => kind === "head")![1], "store");
        const hasHead = !damaged.has("head");
        // Without head and records the size of pages is guessed, by what pages of SQLite look like; these do not.
        if (found.pageSize !== PAGE_SIZE) expect(hasHead && head.pageSize > 0).toBe(false);
        else check(found, states, hasHead ? expectation(head, before, new Set(damaged.keys())) : null);
        // That nothing follows the last record that is there is nothing that anybody could see.
        const last = Math.max(head.sequence, ...after.map(([[kind, sequence = 0]]) => (kind === "log" ? sequence : 0)));
        const isSeen = ([kind, sequence = 0]: Key): boolean => kind !== "log" || sequence <= last;
        if ([...damaged.values()].some(isSeen)) expect(found.problems.length).toBeGreaterThan(0);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
