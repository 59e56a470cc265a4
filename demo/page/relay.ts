// When to look for work: after every commit, at the time of the next timer, and when the page comes back from wherever
// it was. One round at a time in a tab; other tabs do the same, and doing it twice changes nothing (see runtime.ts).
import { coalesced } from "./coalesced.ts";
import { now, type Runtime } from "./runtime.ts";

/**
 * The longest sleep. Browsers count at most 2^31 - 1 ms, and neither a sleeping machine nor a clock that is set wakes
 * them; so the clock is looked at again and again.
 */
const LONGEST_NAP_MS = 15_000;
/** The tab that made a change does what follows from it. If it dies, the others are not far behind. */
const OTHERS_FIRST_MS = 300;

/** Calls `ring` when the clock of the wall passes a time, and again and again while that time is not moved. */
export interface Alarm {
  /** Seconds since the epoch; null for never. */
  set(at: number | null): void;
  /** Looks at the clock now: the page was away. */
  look(): void;
}

export function alarm(ring: () => void): Alarm {
  let at: number | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (at === null) return;
    const left = (at - now()) * 1000;
    if (left <= 0) ring();
    timer = setTimeout(look, left <= 0 ? LONGEST_NAP_MS : Math.min(left, LONGEST_NAP_MS));
  };
  return {
    set(time) {
      if (time === at) return;
      at = time;
      look();
    },
    look,
  };
}

export interface Relay {
  /** There may be something to do. */
  kick(origin: "local" | "remote"): void;
  /** Works until nothing is left to do. */
  settle(): Promise<void>;
}

/** `isOn`: whether children are started and messages delivered. Timers always fire. */
export function relayOf(
  runtime: Pick<Runtime, "round">,
  isOn: () => boolean,
  onError: (error: unknown) => void,
): Relay {
  let soon: ReturnType<typeof setTimeout> | undefined;
  const settle = coalesced(async () => {
    let isMore = true;
    while (isMore) isMore = await runtime.round({ relay: isOn() });
  }, onError);
  return {
    kick(origin) {
      clearTimeout(soon);
      if (origin === "remote") soon = setTimeout(() => void settle(), OTHERS_FIRST_MS);
      else void settle();
    },
    settle,
  };
}
