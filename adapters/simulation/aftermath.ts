// What may be found on a disk after a crash. It follows what a simulated disk wrote down, entry by entry, and knows of each
// write whether it is durable: a sync that succeeded says so. Of the rest a power cut leaves anything, whole, in part or
// not at all, whatever the order it was written in; names arrive in their order, as journals of file systems have it.
import { Content, type DiskEntry, type DiskImage } from "./disk-image.ts";
import { whole } from "./random.ts";

/**
 * "kill": the process is gone, all it had written is there; of the write under way there is a part.
 * "lost": the power is gone, and with it all that was not synced.
 * "torn": the power is gone, and some of what was not synced is there: writes, parts of writes, in any order.
 */
export type CrashMode = "kill" | "lost" | "torn";

type Change = Extract<DiskEntry, { kind: "write" | "truncate" }>;

/** A change of a file, since the first one that is not durable. */
interface Recent {
  readonly change: Change;
  /** When it was made. */
  readonly index: number;
  /** "forgotten": a sync of it failed. The system believes it is on the disk, so no later one makes it durable. */
  state: "pending" | "durable" | "forgotten";
}

interface FileState {
  /** Up to the first change that is not durable. */
  readonly durable: Followed;
  readonly recent: Recent[];
  /** What programs read. */
  readonly live: Followed;
}

/** Bytes that follow changes as late as they can: of most moments that are gone through nobody asks for them. */
class Followed {
  readonly #content: Content;
  readonly #missed: Change[] = [];

  constructor(bytes: Uint8Array | undefined) {
    this.#content = new Content(bytes);
  }

  follow(change: Change): void {
    this.#missed.push(change);
  }

  /** As they are now, good until they are asked for after another change. */
  get bytes(): Uint8Array {
    for (const change of this.#missed.splice(0)) apply(this.#content, change);
    return this.#content.bytes;
  }
}

export class Aftermath {
  readonly #files: Map<number, FileState> = new Map();
  readonly #names: Map<string, number>;
  readonly #durableNames: Map<string, number>;
  readonly #pendingNames: { readonly index: number; readonly entry: Extract<DiskEntry, { kind: "names" }> }[] = [];
  #index = 0;

  /** `start`: what the disk held, all of it durable, before the first entry. */
  constructor(start: DiskImage) {
    for (const [file, bytes] of start.files) this.#file(file, bytes);
    this.#names = new Map(start.names);
    this.#durableNames = new Map(start.names);
  }

  /** How many entries it has followed. */
  get index(): number {
    return this.#index;
  }

  /** A name that means a file now. */
  nameOf(file: number): string {
    for (const [name, number] of this.#names) if (number === file) return name;
    return "a file without a name";
  }

  follow(entry: DiskEntry): void {
    const index = this.#index++;
    switch (entry.kind) {
      case "write":
      case "truncate": {
        const file = this.#file(entry.file);
        file.live.follow(entry);
        file.recent.push({ change: entry, index, state: "pending" });
        break;
      }
      case "names":
        rename(this.#names, entry.changes);
        for (const [, file] of entry.changes) if (file !== null) this.#file(file);
        this.#pendingNames.push({ index, entry });
        break;
      case "sync":
        this.#sync(this.#file(entry.file), entry.upTo, entry.ok);
        break;
      case "sync names":
        while (entry.ok && this.#pendingNames[0] !== undefined && this.#pendingNames[0].index < entry.upTo) {
          rename(this.#durableNames, this.#pendingNames.shift()!.entry.changes);
        }
    }
  }

  /**
   * The process is killed now; `cut` is of the write that it is in the middle of, the part that is done. What is returned
   * is good until the next entry is followed.
   */
  kill(cut: Change | null = null): DiskImage {
    const files = new Map<number, Uint8Array>([...this.#files].map(([file, { live }]) => [file, live.bytes]));
    if (cut !== null) {
      const content = new Content(files.get(cut.file));
      apply(content, cut);
      files.set(cut.file, content.bytes);
    }
    return image(files, this.#names);
  }

  /** The power is cut now, and nothing is there that was not made durable. */
  lost(): DiskImage {
    const files = [...this.#files].map(([file, state]) => [file, survivors(state, () => {})] as const);
    return image(new Map(files), this.#durableNames);
  }

  /** The power is cut now, and by chance some of the rest is there. `sectorBytes` are written whole or not at all. */
  torn(random: () => number, sectorBytes: number): DiskImage {
    const names = new Map(this.#durableNames);
    const arrived = whole(random, this.#pendingNames.length + 1);
    for (const { entry } of this.#pendingNames.slice(0, arrived)) rename(names, entry.changes);
    // Most of what is pending, little of it, or a mixture.
    const luck = random();
    const byChance = (content: Content, change: Change): void => {
      if (random() < luck) apply(content, change);
      else if (change.kind === "write" && random() < 0.7) applyTorn(content, change, random, sectorBytes);
    };
    const files = [...this.#files].map(([file, state]) => [file, survivors(state, byChance)] as const);
    return image(new Map(files), names);
  }

  /** Whether a power cut can leave nothing but what programs see. */
  get isDurable(): boolean {
    return this.#pendingNames.length === 0 && [...this.#files.values()].every(({ recent }) => recent.length === 0);
  }

  #file(file: number, bytes?: Uint8Array): FileState {
    let found = this.#files.get(file);
    if (found === undefined) {
      found = { durable: new Followed(bytes), recent: [], live: new Followed(bytes) };
      this.#files.set(file, found);
    }
    return found;
  }

  #sync({ durable, recent }: FileState, upTo: number, ok: boolean): void {
    for (const one of recent) {
      if (one.index < upTo && one.state === "pending") one.state = ok ? "durable" : "forgotten";
    }
    while (recent[0]?.state === "durable") durable.follow(recent.shift()!.change);
  }
}

/** What is left of a file: all that is durable, in its order, and of the rest what `byChance` applies. */
function survivors({ durable, recent }: FileState, byChance: (content: Content, change: Change) => void): Uint8Array {
  const content = new Content(durable.bytes);
  for (const { change, state } of recent) {
    if (state === "durable") apply(content, change);
    else byChance(content, change);
  }
  return content.bytes;
}

function apply(content: Content, change: Change): void {
  if (change.kind === "write") content.write(change.bytes, change.at);
  else content.resize(change.size);
}

/** A part arrives: the beginning, the end, all but a gap, or sectors here and there. */
function applyTorn(
  content: Content,
  { at, bytes }: Extract<Change, { kind: "write" }>,
  random: () => number,
  sectorBytes: number,
): void {
  content.resize(Math.max(content.size, at + bytes.length));
  // Sectors lie where the disk has them, not where a write happens to begin.
  const first = Math.floor(at / sectorBytes);
  const last = Math.floor((at + bytes.length - 1) / sectorBytes);
  const [how, share, width] = [random(), random(), random() ** 3];
  for (let sector = first; sector <= last; sector++) {
    const along = (sector - first) / (last - first + 1);
    if (how < 0.25 && random() >= share) continue;
    if (how >= 0.25 && how < 0.5 && along >= share) continue;
    if (how >= 0.5 && how < 0.75 && along < share) continue;
    if (how >= 0.75 && along <= share && along >= share - width - 1 / (last - first + 1)) continue;
    const from = Math.max(0, sector * sectorBytes - at);
    const to = Math.min(bytes.length, (sector + 1) * sectorBytes - at);
    content.write(bytes.subarray(from, to), at + from);
  }
}

function rename(names: Map<string, number>, changes: readonly (readonly [string, number | null])[]): void {
  for (const [name, file] of changes) {
    if (file === null) names.delete(name);
    else names.set(name, file);
  }
}

/** Without the files that no name leads to. */
function image(files: ReadonlyMap<number, Uint8Array>, names: ReadonlyMap<string, number>): DiskImage {
  const named = new Set(names.values());
  return { files: new Map([...files].filter(([file]) => named.has(file))), names: new Map(names) };
}
