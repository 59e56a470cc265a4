// The write lease between processes (L4): waiting for it, for so long and no longer, and telling why it cannot be had. How
// the lock changes hands is in claim.ts. A living writer is waited for, never robbed in the middle: the lease of a process
// that merely sleeps is safe. Of a dead one the lease is taken over at once.
import {
  FlushFailed,
  PerdureError,
  type RefusalCode,
  StoreBusy,
  StorageRefused,
  systemCode,
} from "../../src/errors.ts";
import type { Program } from "../wal/program.ts";
import { isBehind, type Reached } from "../wal/lineage.ts";
import { Claim } from "./claim.ts";
import { describe, type Owner, thisProcess } from "./owner.ts";
import { refusalOf } from "./translating.ts";

/** Tokens of the leases held on this thread: waiting for one of them while blocking would be forever. */
const heldHere = new Set<string>();

const FIRST_WAIT_MS = 0.2;
const LONGEST_WAIT_MS = 5;

export class Lease {
  readonly #place: string;
  readonly #owner: Owner;
  readonly #busyTimeoutMs: number;
  readonly #blocking: boolean;
  readonly #claim: Claim;
  #held = false;

  /** `mode` is the database's: who may use it must be able to read whose turn it is. */
  constructor(place: string, busyTimeoutMs: number, blocking: boolean, mode = 0o600) {
    this.#place = place;
    this.#owner = thisProcess();
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#blocking = blocking;
    try {
      this.#claim = new Claim(`${place}-lock`, this.#owner, mode);
    } catch (error) {
      throw this.#cannotLock(error);
    }
  }

  /** By which others know it. */
  get token(): string {
    return this.#owner.token;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Whether the lease came from a process that died writing, and may have left something that is not durable. */
  get inherited(): boolean {
    return this.#claim.inherited;
  }

  /** Takes the lease. Throws `StoreBusy`. */
  *acquire(): Program<void> {
    const start = performance.now();
    let wait = FIRST_WAIT_MS;
    for (;;) {
      const holder = this.#attempt();
      if (holder === null) return;
      const waited = performance.now() - start;
      const left = this.#busyTimeoutMs - waited;
      const hopeless = this.#blocking && heldHere.has(holder.token);
      if (left <= 0 || hopeless) {
        this.#claim.rest();
        const advice = hopeless ? "; it is another store of this thread, and a synchronous one cannot wait for it" : "";
        throw new StoreBusy(this.#place, Math.round(waited), describe(holder), advice);
      }
      // Jitter, or waiters would go on colliding.
      yield { kind: "sleep", ms: Math.min(left, wait * (0.5 + Math.random())) };
      wait = Math.min(wait * 1.5, LONGEST_WAIT_MS);
    }
  }

  /** Takes the lease if nobody is writing. */
  tryAcquire(): boolean {
    if (this.#attempt() === null) return true;
    this.#claim.rest();
    return false;
  }

  /** Whether the lock is still ours. */
  isStillOurs(): boolean {
    return this.#claim.isStillOurs();
  }

  /** What is there now counts as all there is, whoever tells of more. */
  giveUpLoss(): void {
    this.#claim.giveUpReached();
  }

  /** Lets others write, from `reached` in the log on. The lock stays ours until somebody wants it. */
  release(reached: Reached | null = null): void {
    if (!this.#held) return;
    this.#held = false;
    heldHere.delete(this.#owner.token);
    this.#claim.end(reached);
  }

  /**
   * Refuses when those who had the lease before us got further than `position`: what they wrote is gone from the log, and
   * only they can put it back.
   */
  refuseLoss(position: Reached): void {
    const { reached } = this.#claim;
    if (reached === null || !isBehind(position, reached)) return;
    const problem =
      "its log (-wal) was cut, and lacks what another store committed; that one puts it back when it goes on. Is it gone, " +
      "open this one again to take what is there";
    throw new StorageRefused("storage-replaced", this.#place, problem);
  }

  /** Whether another living store has the place open. Needs the lease. Clears away what dead ones left. */
  hasCompany(): boolean {
    return this.#claim.hasCompany();
  }

  /** Gives the lock back too. */
  close(): void {
    this.release();
    this.#claim.close();
  }

  /** One attempt: null when the lease is ours now, else who stands in the way. */
  #attempt(): Owner | null {
    let rival: Owner | null;
    try {
      rival = this.#begin();
    } catch (error) {
      this.#claim.rest();
      throw this.#cannotLock(error);
    }
    if (rival === null) {
      this.#held = true;
      heldHere.add(this.#owner.token);
    }
    return rival;
  }

  #begin(): Owner | null {
    try {
      return this.#claim.begin();
    } catch (error) {
      if (systemCode(error) !== "ENOENT" || !this.#claim.isSweptAway) throw error;
      this.#claim.remakeFile();
      return this.#claim.begin();
    }
  }

  #cannotLock(cause: unknown): PerdureError {
    if (cause instanceof PerdureError) return cause;
    const refuse = (code: RefusalCode, problem: string): StorageRefused =>
      new StorageRefused(code, this.#place, problem, { cause });
    const code = systemCode(cause);
    switch (code) {
      case "ENOENT":
      case "ENOTDIR":
        return refuse("storage-missing", "its directory is not there");
      case "EACCES":
      case "EROFS":
        return refuse("storage-denied", "no permission to make the lock file beside it");
      case "EPERM":
      case "ENOTSUP":
      case "ENOSYS":
        return refuse("unsupported", "the lock file beside it is a hard link, and this file system has none");
      case "EIO":
        return new FlushFailed(this.#place, cause, "none");
      default:
        return refusalOf(this.#place, code, cause, "the lock file beside it cannot be made");
    }
  }
}
