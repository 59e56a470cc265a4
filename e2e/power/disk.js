// A disk as a power cut leaves it. It takes the calls a program makes and knows what of them is durable: what was
// synced. Of the rest anything may be there, whole, in part or not at all, whatever the order it was written in.

const SECTOR_BYTES = 512;

/**
 * @typedef {{ at: number, bytes: Uint8Array | null, state: "pending" | "durable" | "lost track of" }} Write
 *   bytes null: the file is cut or grown to `at`
 * @typedef {{ base: Uint8Array, writes: Write[] }} File  base: what is durable; writes: all since, in order
 */

export class Disk {
  /** What the names mean now. @type {Map<string, File>} */
  #names = new Map();
  /** What they mean after a power cut, and the changes since, which get there in order. @type {Map<string, File>} */
  #durableNames = new Map();
  /** @type {((names: Map<string, File>) => void)[]} */
  #changes = [];

  /** @param {string} name */
  create(name) {
    const file = { base: new Uint8Array(0), writes: [] };
    this.#change((names) => names.set(name, file));
    return file;
  }

  /** @param {string} name */
  find(name) {
    return this.#names.get(name);
  }

  /** @param {string} from @param {string} to */
  link(from, to) {
    const file = this.#names.get(from);
    if (file !== undefined) this.#change((names) => names.set(to, file));
  }

  /** @param {string} name */
  unlink(name) {
    this.#change((names) => names.delete(name));
  }

  /** @param {File} file @param {number} at @param {Uint8Array | null} bytes */
  write(file, at, bytes) {
    file.writes.push({ at, bytes: bytes === null ? null : bytes.slice(), state: "pending" });
  }

  /** A sync begins; call what it returns when it is over. @param {File} file @returns {(succeeded: boolean) => void} */
  sync(file) {
    const covered = file.writes.filter(({ state }) => state === "pending");
    return (succeeded) => {
      // After a sync that failed, the system may believe that these pages are clean: no later sync makes them durable.
      for (const write of covered) write.state = succeeded ? "durable" : "lost track of";
      while (file.writes[0]?.state === "durable")
        file.base = apply(file.base, /** @type {Write} */ (file.writes.shift()));
    };
  }

  syncNames() {
    for (const change of this.#changes.splice(0)) change(this.#durableNames);
  }

  /** What might be found after a power cut now. @param {() => number} random @returns {Map<string, Uint8Array>} */
  afterPowerCut(random) {
    const names = new Map(this.#durableNames);
    const arrived = Math.floor(random() * (this.#changes.length + 1));
    for (const change of this.#changes.slice(0, arrived)) change(names);
    // Most of the pending writes, few of them, or a mixture.
    const luck = random();
    return new Map([...names].map(([name, file]) => [name, survivors(file, luck, random)]));
  }

  /** @param {(names: Map<string, File>) => void} change */
  #change(change) {
    change(this.#names);
    this.#changes.push(change);
  }
}

/** @param {File} file @param {number} luck @param {() => number} random */
function survivors({ base, writes }, luck, random) {
  let content = base;
  for (const write of writes) {
    if (write.state === "durable" || random() < luck) content = apply(content, write);
    else if (write.bytes !== null && random() < 0.5) content = applyTorn(content, write.at, write.bytes, random);
  }
  return content;
}

/** @param {Uint8Array} content @param {Write} write */
function apply(content, { at, bytes }) {
  const size = bytes === null ? at : Math.max(content.length, at + bytes.length);
  const result = new Uint8Array(size);
  result.set(content.subarray(0, size));
  if (bytes !== null) result.set(bytes, at);
  return result;
}

/** A part arrives: the beginning, the end, or sectors here and there. */
/** @param {Uint8Array} content @param {number} at @param {Uint8Array} bytes @param {() => number} random */
function applyTorn(content, at, bytes, random) {
  const result = apply(content, { at: Math.max(content.length, at + bytes.length), bytes: null, state: "pending" });
  const sectors = Math.ceil(bytes.length / SECTOR_BYTES);
  const [how, share] = [random(), random()];
  for (let sector = 0; sector < sectors; sector++) {
    const place = how < 0.4 ? random() : how < 0.7 ? sector / sectors : 1 - sector / sectors;
    const from = sector * SECTOR_BYTES;
    if (place < share) result.set(bytes.subarray(from, from + SECTOR_BYTES), at + from);
  }
  return result;
}
