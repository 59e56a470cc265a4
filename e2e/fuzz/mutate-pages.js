// Damage to SQLite pages by somebody who knows the format: headers, cell pointers, varints, child and overflow pointers,
// lists of free pages, text of the schema. Beside that, noise.

/** @typedef {import("./chance.js").Chance} Chance */

const HEADER_FIELDS = [16, 18, 19, 20, 21, 22, 23, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 92, 96];
/** Texts of the same length, so that nothing moves. */
const REPLACEMENTS = [
  ["CREATE TABLE", "CREATE VIEW "],
  ["CREATE INDEX", "CREATE TABLE"],
  ["PRIMARY KEY", "CHECK (0)  "],
  ["AUTOINCREMENT", "GENERATED    "],
  ["TEXT NOT NULL", "TEXT AS ('x')"],
  ["NOT NULL", "UNIQUE  "],
  ["INTEGER", "BLOB   "],
  ["executions", "sqlite_seq"],
  ["outbox", "timers"],
  ["fire_at", "rowid  "],
  ["WHERE", "ORDER"],
  ["json_valid", "randomblob"],
  ["json_extract", "load_extensi"],
  ['"version":', '"version" '],
  ['"status":', '"status"['],
  ['"context":{', '"context":['],
  ['"id":"', '"id":1'],
  [":null", ":1e99"],
  [":null", ":-NaN"],
  ["RUNNING", "running"],
];

/** @typedef {(file: Uint8Array, pageSize: number, chance: Chance) => void} Mutation */

/** Where a b-tree page keeps its header. @param {number} number */
const headerAt = (number) => (number === 0 ? 100 : 0);

/** @param {Uint8Array} file @param {number} pageSize @param {Chance} chance */
function anyPage(file, pageSize, chance) {
  const number = chance.below(Math.max(1, Math.floor(file.length / pageSize)));
  return { number, page: file.subarray(number * pageSize, (number + 1) * pageSize) };
}

/** @param {Uint8Array} bytes @param {number} at @param {number} value @param {1 | 2 | 4} width */
function put(bytes, at, value, width) {
  for (let i = 0; i < width; i++) {
    if (at + i < bytes.length) bytes[at + i] = (value / 2 ** (8 * (width - 1 - i))) & 0xff;
  }
}

/** A varint of any length, most of them wrong. @param {Chance} chance */
function anyVarint(chance) {
  const length = 1 + chance.below(9);
  const bytes = chance.maybe(0.5) ? new Uint8Array(length).fill(0xff) : chance.bytes(length);
  for (let i = 0; i < length - 1; i++) bytes[i] = (bytes[i] ?? 0) | 0x80;
  if (length < 9) bytes[length - 1] = (bytes[length - 1] ?? 0) & 0x7f;
  return bytes;
}

/** @param {Uint8Array} page @param {number} at */
const read16 = (page, at) => ((page[at] ?? 0) << 8) | (page[at + 1] ?? 0);

/** Where a cell of the page starts, by its own word. @param {Uint8Array} page @param {number} number @param {Chance} chance */
function anyCell(page, number, chance) {
  const at = headerAt(number);
  const isLeaf = (page[at] ?? 0) >= 10;
  const pointer = at + (isLeaf ? 8 : 12) + 2 * chance.below(Math.max(1, read16(page, at + 3)));
  return { pointer, cell: read16(page, pointer), isLeaf };
}

/** @type {Readonly<Record<string, Mutation>>} */
const MUTATIONS = {
  fileHeader(file, _pageSize, chance) {
    put(file, chance.pick(HEADER_FIELDS), chance.number(), chance.pick([1, 2, 4]));
  },
  pageHeader(file, pageSize, chance) {
    const { number, page } = anyPage(file, pageSize, chance);
    const [field, width] = chance.pick(
      /** @type {const} */ ([
        [0, 1],
        [1, 2],
        [3, 2],
        [5, 2],
        [7, 1],
        [8, 4],
      ]),
    );
    const value = field === 0 ? chance.pick([0, 2, 5, 10, 13, 255]) : chance.number();
    put(page, headerAt(number) + field, value, width);
  },
  cellPointer(file, pageSize, chance) {
    const { number, page } = anyPage(file, pageSize, chance);
    put(page, anyCell(page, number, chance).pointer, chance.number(), 2);
  },
  cellVarints(file, pageSize, chance) {
    const { number, page } = anyPage(file, pageSize, chance);
    const { cell, isLeaf } = anyCell(page, number, chance);
    const varint = anyVarint(chance);
    const at = cell + (isLeaf ? 0 : 4) + chance.below(6);
    page.set(varint.subarray(0, Math.max(0, page.length - at)), Math.min(at, page.length));
  },
  childPointer(file, pageSize, chance) {
    const { number, page } = anyPage(file, pageSize, chance);
    const pages = file.length / pageSize;
    const child = chance.pick([0, 1, 2, number + 1, 1 + chance.below(pages), pages + 1, chance.number()]);
    put(page, chance.maybe(0.5) ? headerAt(number) + 8 : anyCell(page, number, chance).cell, child, 4);
  },
  overflowPointer(file, pageSize, chance) {
    const { number, page } = anyPage(file, pageSize, chance);
    const pages = file.length / pageSize;
    put(page, 0, chance.pick([0, 1, number + 1, 1 + chance.below(pages), pages + 1, chance.number()]), 4);
  },
  freelist(file, pageSize, chance) {
    const pages = file.length / pageSize;
    const trunk = chance.below(pages);
    put(file, 32, trunk + 1, 4);
    put(file, 36, chance.pick([0, 1, pages, chance.number()]), 4);
    const page = file.subarray(trunk * pageSize, (trunk + 1) * pageSize);
    if (trunk === 0) return;
    put(page, 0, chance.pick([0, trunk + 1, 1 + chance.below(pages), chance.number()]), 4);
    put(page, 4, chance.pick([0, 1, 5, pageSize / 4, chance.number()]), 4);
    for (let i = 0; i < 5; i++) put(page, 8 + 4 * i, chance.pick([0, trunk + 1, 1 + chance.below(pages)]), 4);
  },
  text(file, _pageSize, chance) {
    const [from = "", to = ""] = chance.pick(REPLACEMENTS);
    const text = Buffer.from(file.buffer, file.byteOffset, file.length);
    const first = chance.below(file.length);
    const at = text.indexOf(from, chance.maybe(0.5) ? 0 : first);
    if (at !== -1) text.write(to, at, "latin1");
  },
  noise(file, _pageSize, chance) {
    for (let left = 1 + chance.below(20); left > 0; left--) file[chance.below(file.length)] = chance.below(256);
  },
  wholePage(file, pageSize, chance) {
    const { page } = anyPage(file, pageSize, chance);
    if (chance.maybe(0.3)) page.fill(0);
    else if (chance.maybe(0.4)) page.set(chance.bytes(page.length));
    else {
      const { page: other } = anyPage(file, pageSize, chance);
      const copy = page.slice();
      page.set(other.subarray(0, page.length));
      if (chance.maybe(0.5)) other.set(copy.subarray(0, other.length));
    }
  },
};

/** A damaged copy. @param {Uint8Array} file @param {number} pageSize @param {Chance} chance */
export function mutatePages(file, pageSize, chance) {
  const copy = file.slice();
  for (let left = 1 + chance.below(4); left > 0; left--) {
    chance.pick(Object.values(MUTATIONS))(copy, pageSize, chance);
  }
  return copy;
}

/** Cut short, or with something behind it. @param {Uint8Array} file @param {Chance} chance */
export function mutateLength(file, chance) {
  if (chance.maybe(0.7)) return file.slice(0, chance.below(file.length + 1));
  return new Uint8Array(Buffer.concat([file, chance.bytes(chance.below(10_000))]));
}
