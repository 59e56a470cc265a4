// The moments at which a run on a simulated disk may have been cut short, and what each leaves on the disk. Walks along
// what the disk wrote down; runs no store.
import { Aftermath, type CrashMode } from "./aftermath.ts";
import type { DiskEntry, DiskImage } from "./disk-image.ts";
import { randomFrom, whole } from "./random.ts";
import type { SimulatedDisk } from "./simulated-disk.ts";

/** Disks that are made up before a sync, for each that is made up elsewhere. */
const SYNC_VARIANTS = 6;

/** One way for a run to end. */
export interface Moment {
  /** How many entries of the disk there were. */
  readonly index: number;
  readonly mode: CrashMode;
  /** Which of several at this place. */
  readonly variant: number;
  /** What was being done: the call, and the file with random parts of its name left out. */
  readonly boundary: string;
  /** What is on the disk then: good until the next moment is asked for. */
  image(): DiskImage;
}

export interface MomentOptions {
  readonly modes: readonly CrashMode[];
  readonly seed: number;
  /** How often a "torn" disk is made up for each moment, and how often a write is cut. */
  readonly variants: number;
  /** Entries before this one are not of interest. */
  readonly from?: number;
  /** Entry counts after which something was acknowledged: these moments count even where the disk is the same. */
  readonly marks?: ReadonlySet<number>;
}

/** All of them, in order. What is the same as the one before is left out. */
export function* momentsOf(disk: SimulatedDisk, options: MomentOptions): Generator<Moment, void, void> {
  const { modes, seed, variants, from = 0, marks = new Set() } = options;
  const aftermath = new Aftermath(disk.start);
  const { entries } = disk;
  for (let index = 0; index <= entries.length; index++) {
    const before = entries[index - 1];
    if (before !== undefined) aftermath.follow(before);
    if (index < from) continue;
    const next = entries[index];
    const boundary = describe(next, aftermath);
    const isMarked = index === from || marks.has(index);
    for (const mode of modes) {
      if (!isMarked && !isNews(mode, before, aftermath)) continue;
      const count = countAt(mode, next, variants);
      for (let variant = 0; variant < count; variant++) {
        const image = (): DiskImage => {
          const random = randomFrom(seed, mode, index, variant);
          return imageAt(aftermath, mode, variant, next, random, disk.sectorBytes);
        };
        yield { index, mode, variant, boundary, image };
      }
    }
  }
}

function imageAt(
  aftermath: Aftermath,
  mode: CrashMode,
  variant: number,
  next: DiskEntry | undefined,
  random: () => number,
  sectorBytes: number,
): DiskImage {
  if (mode === "lost") return aftermath.lost();
  if (mode === "torn") return aftermath.torn(random, sectorBytes);
  if (variant === 0 || next?.kind !== "write") return aftermath.kill();
  // Systems copy into their memory page by page, and disks write sectors: nothing smaller is ever half done.
  const sectors = Math.floor((next.at + next.bytes.length - 1) / sectorBytes) - Math.floor(next.at / sectorBytes);
  const done = (Math.floor(next.at / sectorBytes) + whole(random, sectors + 1)) * sectorBytes - next.at;
  return aftermath.kill({ ...next, bytes: next.bytes.subarray(0, Math.max(0, done)) });
}

/** How many there are at one place. Right before a sync chance has the most to play with. */
function countAt(mode: CrashMode, next: DiskEntry | undefined, variants: number): number {
  if (mode === "torn") return next?.kind === "sync" ? SYNC_VARIANTS * variants : variants;
  return mode === "kill" && next?.kind === "write" ? 1 + variants : 1;
}

/** Whether the entry before made a difference to what such a crash leaves. */
function isNews(mode: CrashMode, before: DiskEntry | undefined, aftermath: Aftermath): boolean {
  const isSync = before?.kind === "sync" || before?.kind === "sync names";
  if (mode === "torn") return !aftermath.isDurable;
  return (mode === "lost") === isSync;
}

function describe(entry: DiskEntry | undefined, aftermath: Aftermath): string {
  if (entry === undefined) return "end";
  switch (entry.kind) {
    case "write":
    case "truncate":
    case "sync":
      return `${entry.kind} ${plainName(aftermath.nameOf(entry.file))}`;
    case "names":
      return `names ${plainName(entry.changes[0]![0])}`;
    case "sync names":
      return entry.kind;
  }
}

/** Without what is made up anew each time. */
export const plainName = (name: string): string => name.replaceAll(/[0-9a-f]{32}/g, "*");
