// Damage to what IndexedDB stores, by somebody who knows the format: words of heads, blocks and records, most often with
// their checksum put right so that they are believed; pages in blocks; values that are no bytes at all; values that are
// gone, cut, older, another place's, or under another key.
import { mutatePages } from "./mutate-pages.js";

/** @typedef {import("./chance.js").Chance} Chance */
/** @typedef {{ key: IDBValidKey, value: unknown }} Entry */
/** @typedef {{ isForged: boolean }} Outcome  isForged: something untrue has the right checksum */
/** @typedef {(entries: Entry[], past: readonly Entry[], chance: Chance, outcome: Outcome) => void} Mutation */

/** Words of a frame: checksum, kind, whose it is (4), sequence (2). */
const FRAME_WORDS = 8;
const HEAD = 0x70640001;
const BLOCK = 0x70640002;
/** Words of a block's number, of a record's part, and of what a record says before its pages. */
const BLOCK_WORDS = 1;
const PART_WORDS = 4;
const DELTA_WORDS = 3;
const PAGE_SIZE = 4096;

/** @param {unknown} value @returns {value is Uint8Array} */
const isFrame = (value) => value instanceof Uint8Array && value.length >= 4 * FRAME_WORDS && value.length % 4 === 0;

/** @param {Uint8Array} bytes */
const wordsOf = (bytes) => new Uint32Array(bytes.slice().buffer);

/** The value, with the checksum that it should have. @param {Uint32Array} words */
function sealed(words) {
  words[0] = checksum(words.subarray(1));
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

/** @param {Uint32Array} words */
function checksum(words) {
  const lanes = [
    { sum: 0x9e3779b9, add: 0x165667b1, times: 0x9e3779b1 },
    { sum: 0x85ebca6b, add: 0x27d4eb2f, times: 0x85ebca77 },
  ];
  for (const [i, word] of words.subarray(0, words.length & ~1).entries()) {
    const lane = /** @type {typeof lanes[0]} */ (lanes[i & 1]);
    const sum = Math.imul((lane.sum ^ word) + lane.add, lane.times);
    lane.sum = (sum << 13) | (sum >>> 19);
  }
  let [a = 0, b = 0] = lanes.map(({ sum }) => sum);
  if (words.length % 2 === 1) a = Math.imul(a ^ (words.at(-1) ?? 0), 0xc2b2ae3d);
  let sum = a ^ ((b << 16) | (b >>> 16)) ^ words.length;
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35);
  return (sum ^ (sum >>> 16)) >>> 0;
}

/** @param {readonly Entry[]} entries @param {Chance} chance @param {(entry: Entry) => boolean} [fits] */
function anyEntry(entries, chance, fits = () => true) {
  const fitting = entries.filter(fits);
  return fitting.length === 0 ? null : chance.pick(fitting);
}

/** @param {string} kind */
const ofKind =
  (kind) =>
  (/** @type {Entry} */ { key }) =>
    Array.isArray(key) && key[0] === kind;

/** Changes the words of a value, and most often puts its checksum right. @param {Mutation} change */
const inFrame = (/** @type {(words: Uint32Array, chance: Chance) => Uint32Array | void} */ change) =>
  /** @type {Mutation} */ (
    (entries, _past, chance, outcome) => {
      const kind = chance.pick(["head", "base", "log", "log"]);
      const entry = anyEntry(entries, chance, (one) => ofKind(kind)(one) && isFrame(one.value));
      if (entry === null) return;
      const words = wordsOf(/** @type {Uint8Array} */ (entry.value));
      const changed = change(words, chance) ?? words;
      const isSealed = chance.maybe(0.85);
      outcome.isForged ||= isSealed;
      entry.value = isSealed ? sealed(changed) : new Uint8Array(changed.buffer);
    }
  );

/** Where the words are that say something, by the kind of the value. @param {Uint32Array} words */
function tellingWords(words) {
  const frame = [6, 7];
  if (words[1] === HEAD) return [...frame, ...Array.from({ length: words.length - FRAME_WORDS }, (_, i) => 8 + i)];
  if (words[1] === BLOCK) return [...frame, FRAME_WORDS];
  const at = FRAME_WORDS + PART_WORDS;
  return [...frame, 8, 9, 10, at, at, at + 1, at + 1, at + 2, ...pageWords(words)];
}

/** Where a record lists its pages, and the runs of the first ones. @param {Uint32Array} words */
function pageWords(words) {
  const found = [];
  let at = FRAME_WORDS + PART_WORDS + DELTA_WORDS;
  for (let left = words[at - 1] ?? 0; left > 0 && at + 2 < words.length; left--) {
    found.push(at, at + 1, at + 2);
    let runs = words[at + 2] ?? 0;
    for (at += 3; runs > 0 && at < words.length; runs--) {
      if (runs % 7 === 0) found.push(at);
      at += 1 + ((words[at] ?? 0) & 0xffff);
    }
  }
  return found;
}

/** @param {number} word @param {Chance} chance */
const anyWord = (word, chance) =>
  chance.pick([chance.number(), chance.number(), word + 1, word - 1, word * 2, word ^ (1 << chance.below(32)), 512]);

/** @param {Chance} chance @returns {unknown} */
function strange(chance) {
  const own = Object.defineProperty({}, "__proto__", { value: { byteLength: 64 }, enumerable: true });
  /** @type {unknown[]} */
  const cycle = [];
  cycle.push({ cycle, length: 2 ** 32 });
  return chance.pick([
    ...[null, undefined, true, 0, -0, NaN, 2 ** 53, 10n, "", "\0", "\ud800", "x".repeat(70_000)],
    ...[own, cycle, {}, { length: 2 ** 32, byteLength: 64 }, { buffer: new ArrayBuffer(64) }, new Date(0), /x/g],
    ...[
      new Map([["__proto__", 1]]),
      new Set([own]),
      new Error("e"),
      Object("x"),
      Array.from({ length: 3000 }, () => own),
    ],
    ...[new ArrayBuffer(64), new DataView(new ArrayBuffer(64)), new Float64Array(64), new BigUint64Array(64)],
    ...[new Uint8Array(0), new Uint8Array(31), new Uint8Array(64), new Uint8Array(8_000_000), chance.bytes(64)],
    new Uint8Array(new ArrayBuffer(1000), 1, 96),
  ]);
}

/** @param {Chance} chance @returns {IDBValidKey} */
function strangeKey(chance) {
  const number = chance.pick([-1, 0.5, 1.5, 1e300, Infinity, -Infinity, 2 ** 53, chance.below(40)]);
  const part = chance.pick([0, 0.5, 1, -1, "0", new Date(0)]);
  return chance.pick(
    /** @type {IDBValidKey[]} */ ([
      ...["head", "__proto__", "", 0, [], [[]], ["head", 0], ["log"], ["base"], ["__proto__", 0], new Date(0)],
      ...[
        ["base", number],
        ["base", number, part],
        ["base", []],
        ["log", number],
        ["log", []],
      ],
      ...[
        ["log", number, part],
        ["log", number, part, 0],
        ["log", "x", part],
        ["log", [number], part],
      ],
      new Uint8Array([1, 2]),
    ]),
  );
}

/** @type {Readonly<Record<string, Mutation>>} */
const MUTATIONS = {
  field: inFrame((words, chance) => {
    for (let left = 1 + chance.below(2); left > 0; left--) {
      const at = chance.pick(tellingWords(words));
      if (at < words.length) words[at] = anyWord(words[at] ?? 0, chance);
    }
  }),
  bits: inFrame((words, chance) => {
    for (let left = 1 + chance.below(3); left > 0; left--) {
      const at = chance.below(words.length);
      words[at] = (words[at] ?? 0) ^ (1 << chance.below(32));
    }
  }),
  length: inFrame((words, chance) => {
    if (chance.maybe(0.6)) return words.slice(0, FRAME_WORDS + chance.below(words.length - FRAME_WORDS + 1));
    const longer = new Uint32Array(words.length + 1 + chance.below(100_000));
    longer.set(words);
    return longer;
  }),
  /** A record for pages that nobody wrote. */
  pages: inFrame((words, chance) => {
    const at = FRAME_WORDS + PART_WORDS;
    if (words[1] === HEAD || words[1] === BLOCK || words.length < at + DELTA_WORDS) return;
    const first = chance.pick([1, words[at + 1] ?? 1, (words[at + 1] ?? 1) + 1, chance.number()]);
    const count = chance.pick([0, 1, 3, 500]);
    const made = new Uint32Array(at + DELTA_WORDS + count * 3);
    made.set(words.subarray(0, at + 1));
    made.set([chance.pick([first + count - 1, first, chance.number(), 2 ** 32 - 1]), count], at + 1);
    const zeros = checksum(new Uint32Array((words[at] ?? 0) <= 65536 ? (words[at] ?? 0) / 4 : 0));
    for (let i = 0; i < count; i++) {
      made.set([first + i * chance.pick([1, 1, 1, 1000]), zeros, 0], at + DELTA_WORDS + i * 3);
    }
    return made;
  }),
  /** A head that names blocks which nobody wrote. */
  blocks(entries, _past, chance, outcome) {
    const entry = anyEntry(entries, chance, (one) => ofKind("head")(one) && isFrame(one.value));
    if (entry === null) return;
    const words = wordsOf(/** @type {Uint8Array} */ (entry.value));
    const longer = new Uint32Array(words.length + 2 * chance.pick([1, 2, 100, 50_000]));
    longer.set(words);
    longer[9] = (longer.length - FRAME_WORDS - 4) / 2;
    const written = chance.pick([0, words[6] ?? 0, chance.number()]);
    for (let at = words.length; at < longer.length; at += 2) longer[at] = written;
    entry.value = sealed(longer);
    outcome.isForged = true;
  },
  /** What SQLite will find in a block that is right in itself. */
  content(entries, _past, chance, outcome) {
    const entry = anyEntry(entries, chance, (one) => ofKind("base")(one) && isFrame(one.value));
    if (entry === null) return;
    const words = wordsOf(/** @type {Uint8Array} */ (entry.value));
    const pages = new Uint8Array(words.buffer).subarray(4 * (FRAME_WORDS + BLOCK_WORDS));
    if (pages.length >= PAGE_SIZE) pages.set(mutatePages(pages, PAGE_SIZE, chance));
    entry.value = sealed(words);
    outcome.isForged = true;
  },
  type(entries, _past, chance) {
    const entry = chance.pick(entries);
    entry.value = strange(chance);
  },
  gone(entries, _past, chance) {
    const kind = chance.pick(["head", "base", "log"]);
    if (chance.maybe(0.1)) entries.splice(0, entries.length, ...entries.filter((entry) => !ofKind(kind)(entry)));
    else entries.splice(chance.below(entries.length), chance.pick([1, 1, 1, 2, 5]));
  },
  exchanged(entries, _past, chance) {
    const [one, other] = [chance.pick(entries), chance.pick(entries)];
    const { value } = one;
    one.value = other.value;
    if (chance.maybe(0.6)) other.value = value;
  },
  misplaced(entries, _past, chance) {
    const { key, value } = chance.pick(entries);
    const next = Array.isArray(key) ? key.map((step) => (typeof step === "number" ? step + 1 : step)) : key;
    entries.push({
      key: chance.maybe(0.5) ? next : strangeKey(chance),
      value: chance.maybe(0.8) ? value : strange(chance),
    });
    if (chance.maybe(0.3)) entries.splice(chance.below(entries.length), 1);
  },
  older(entries, past, chance) {
    const other = chance.pick(past);
    const known = JSON.stringify(other.key);
    const entry = entries.find(({ key }) => JSON.stringify(key) === known);
    if (entry === undefined) entries.push({ ...other });
    else entry.value = other.value;
  },
};

/**
 * A damaged copy. `past`: values that were once stored, here or in another place.
 *
 * @param {readonly Entry[]} sound @param {readonly Entry[]} past @param {Chance} chance
 */
export function mutateValues(sound, past, chance) {
  const entries = sound.map((entry) => ({ ...entry }));
  const outcome = { isForged: false };
  for (let left = chance.pick([1, 1, 1, 2, 3]); left > 0 && entries.length > 0; left--) {
    chance.pick(Object.values(MUTATIONS))(entries, past, chance, outcome);
  }
  return { entries, ...outcome };
}
