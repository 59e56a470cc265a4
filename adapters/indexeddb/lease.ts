// The right to write, by a Web Lock. It is kept after use, as long as nobody wants it, since a lock costs as much as half
// a commit; and it is waited for in bounded time. A holder that does not answer for a while is frozen or hung, and the
// lease is taken from it: it may not know that, so what it still writes is refused by storage, never by the lease (L4).
import { StorageRefused, StoreBusy } from "../../src/errors.ts";
import type { Channel, Message } from "./channel.ts";
import { databaseName } from "./layout.ts";
import type { Pause } from "./pause.ts";
import type { Platform } from "./platform.ts";

/** An idle holder keeps it so long. */
const LINGER_MS = 500;
/** Who waits says so this often. */
const WANT_MS = 250;
/** Wants that nobody answers before the lease is taken away. */
const SILENT_WANTS = 4;
/** After so long without another word nobody waits any more. */
const FORGET_MS = 2 * WANT_MS * SILENT_WANTS;

/** A lock that is held, until `letGo`. */
interface Hold {
  letGo(): void;
}

/** A lock that is asked for. */
interface Request {
  readonly granted: Promise<boolean>;
  withdraw(): void;
}

export class Lease {
  readonly #platform: Platform;
  readonly #channel: Channel;
  readonly #place: string;
  readonly #busyTimeoutMs: number;
  readonly #pause: Pause;
  readonly #lock: string;
  readonly #waiting: Map<string, number> = new Map();
  readonly #stopListening: () => void;
  #hold: Hold | null = null;
  #inUse = false;
  #lastUse = 0;
  #cancelLinger: (() => void) | null = null;
  /** Wants since anybody who works was heard. */
  #unanswered = 0;
  #request: Request | null = null;
  #closed = false;

  constructor(platform: Platform, channel: Channel, place: string, busyTimeoutMs: number, pause: Pause) {
    this.#platform = platform;
    this.#channel = channel;
    this.#place = place;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#pause = pause;
    this.#lock = databaseName(place);
    this.#stopListening = channel.listen((message) => this.#hear(message));
  }

  /** The hold, for whoever wants to know later whether it is still the same one; or null. */
  get hold(): object | null {
    return this.#hold;
  }

  /** Waits for the lease. Returns what gives it back. One user at a time. */
  async acquire(): Promise<() => void> {
    if (this.#hold === null) await this.#obtain();
    this.#inUse = true;
    let given = true;
    return () => {
      if (given) this.#release();
      given = false;
    };
  }

  /**
   * The page may stop: nobody should have to wait for it. Who is at work goes on without it, as if it had been taken
   * away: storage tells whether somebody was faster (L4).
   */
  suspend(): void {
    // A lock granted to a page that does not run is held by nobody.
    this.#request?.withdraw();
    this.#giveUp();
  }

  close(): void {
    this.#closed = true;
    this.#stopListening();
    this.#request?.withdraw();
    this.#giveUp();
  }

  #release(): void {
    this.#inUse = false;
    this.#lastUse = this.#platform.now();
    // Without a channel nobody could tell that they wait.
    if (this.#closed || !this.#channel.works || this.#isWanted()) return this.#giveUp();
    this.#cancelLinger ??= this.#platform.after(LINGER_MS, () => this.#lingered());
  }

  #lingered(): void {
    this.#cancelLinger = null;
    const left = this.#lastUse + LINGER_MS - this.#platform.now();
    if (!this.#inUse && left <= 0) this.#giveUp();
    else if (this.#hold !== null) {
      this.#cancelLinger = this.#platform.after(Math.max(left, LINGER_MS / 4), () => this.#lingered());
    }
  }

  #giveUp(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = null;
    this.#hold?.letGo();
    this.#hold = null;
  }

  #isWanted(): boolean {
    const now = this.#platform.now();
    for (const [from, at] of this.#waiting) if (now - at > FORGET_MS) this.#waiting.delete(from);
    return this.#waiting.size > 0;
  }

  #hear(message: Message): void {
    if (message.type === "working") {
      this.#unanswered = 0;
      this.#waiting.delete(message.from);
    } else if (message.type === "want") {
      this.#waiting.set(message.from, this.#platform.now());
      if (this.#hold === null) return;
      if (this.#inUse) this.#channel.post({ type: "working", from: this.#channel.self });
      else this.#giveUp();
    }
  }

  async #obtain(): Promise<void> {
    const locks = this.#platform.locks();
    if (locks === undefined) {
      const problem = "there are no Web Locks here; the page must come over https, or from localhost";
      throw new StorageRefused("unsupported", this.#place, problem);
    }
    // A browser takes a moment to grant even a lock that is free; who does not wait asks whether it is.
    if (this.#busyTimeoutMs === 0) {
      if (!(await this.#ask(locks, "ifAvailable").granted)) throw this.#busy();
      return this.#channel.post({ type: "working", from: this.#channel.self });
    }
    let waitedMs = 0;
    this.#unanswered = 0;
    try {
      for (;;) {
        if (this.#pause.isOn) await this.#pause.over();
        this.#request ??= this.#ask(locks, "wait");
        const asked = this.#platform.now();
        this.#want();
        const round = Math.min(WANT_MS, this.#busyTimeoutMs - waitedMs);
        if (await this.#within(round, this.#request.granted)) break;
        waitedMs += round;
        if (this.#hold !== null) break;
        if (waitedMs >= this.#busyTimeoutMs) throw this.#busy();
        // Who slept heard nothing: that says nothing about the others.
        if (this.#platform.now() - asked > 2 * WANT_MS) this.#unanswered = 0;
        if (this.#isSilent() && (await this.#steal(locks))) break;
      }
    } finally {
      this.#request?.withdraw();
      this.#request = null;
    }
    this.#channel.post({ type: "working", from: this.#channel.self });
  }

  #want(): void {
    this.#unanswered++;
    this.#channel.post({ type: "want", from: this.#channel.self });
  }

  /** A tab that is at work answers. Without a channel silence means nothing. */
  #isSilent(): boolean {
    return this.#channel.works && this.#unanswered >= SILENT_WANTS;
  }

  /**
   * Takes the lease away from a holder that does not answer. One thief at a time, and each looks again whether it is
   * still silent: or they would take it from each other, who are well.
   */
  async #steal(locks: LockManager): Promise<boolean> {
    this.#request?.withdraw();
    this.#request = null;
    return locks.request(`${this.#lock}/steal`, { ifAvailable: true }, async (lock) => {
      if (lock === null || !this.#isSilent()) return false;
      const stealing = this.#ask(locks, "steal");
      const granted = await this.#within(WANT_MS, stealing.granted);
      if (granted) this.#channel.post({ type: "working", from: this.#channel.self });
      else stealing.withdraw();
      return granted;
    });
  }

  /** Asks for the lock. `granted` is false when it was withdrawn before. */
  #ask(locks: LockManager, how: "wait" | "ifAvailable" | "steal"): Request {
    const controller = new AbortController();
    let withdrawn = false;
    let hold: Hold | null = null;
    const granted = new Promise<boolean>((resolve, reject) => {
      const options: LockOptions = how === "wait" ? { signal: controller.signal } : { [how]: true };
      const held = locks.request(this.#lock, options, (lock) => {
        // The lock and the withdrawal may cross each other.
        if (withdrawn || lock === null) return;
        return new Promise<void>((letGo) => {
          hold = { letGo };
          this.#hold = hold;
          resolve(true);
        });
      });
      held.then(
        () => resolve(false),
        (error: unknown) => {
          // Withdrawn, or taken from us: whoever has it now tells the others, and storage tells us.
          if (hold !== null && this.#hold === hold) this.#hold = null;
          if (withdrawn || hold !== null) resolve(false);
          else reject(this.#refused(error));
        },
      );
    });
    // Nobody may be waiting for it any more.
    granted.catch(() => {});
    const withdraw = (): void => {
      if (hold !== null || withdrawn) return;
      withdrawn = true;
      controller.abort();
      if (this.#request?.withdraw === withdraw) this.#request = null;
    };
    return { granted, withdraw };
  }

  /** True when it was granted in time. */
  #within(ms: number, granted: Promise<boolean>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const cancel = this.#platform.after(ms, () => resolve(false));
      const settle = (done: () => void): void => {
        cancel();
        done();
      };
      granted.then(
        // One that was withdrawn meanwhile is asked for again after the wait.
        (yes) => yes && settle(() => resolve(true)),
        (error: unknown) => settle(() => reject(error)),
      );
    });
  }

  #busy(): StoreBusy {
    return new StoreBusy(this.#place, this.#busyTimeoutMs, "another tab, worker or store of this site");
  }

  #refused(cause: unknown): StorageRefused {
    return new StorageRefused("unsupported", this.#place, "the browser forbids Web Locks here", { cause });
  }
}
