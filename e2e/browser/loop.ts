// Follows a page that commits without end, from the test process: what it acknowledged, as it comes.
import type { Tab } from "./drivers/driver.ts";
import type { Place } from "./pages/loop.ts";
import type { Server } from "./server.ts";

export interface Loop {
  /** The last commit that the page told of. */
  readonly acknowledged: number;
  /** Resolves when so many more commits are acknowledged than when it is called; rejects when the loop fails. */
  more(commits: number): Promise<void>;
  stop(): void;
}

let loops = 0;

/** Starts a loop in a tab: in its window, or for OPFS in its worker. */
export async function startLoop(tab: Tab, server: Server, place: Place): Promise<Loop> {
  const topic = `loop-${loops++}`;
  const heard = { acknowledged: 0, commits: 0, failure: null as Error | null };
  let wake = (): void => {};
  const stop = server.onTell(topic, (what) => {
    const { n, error } = what as { n?: number; error?: string };
    if (error !== undefined) heard.failure = new Error(error);
    // Requests may overtake each other.
    heard.acknowledged = Math.max(heard.acknowledged, n ?? 0);
    heard.commits++;
    wake();
  });
  await tab.evaluate(
    (it) => {
      void (it.place.on === "OPFS"
        ? lab.inWorker("commitForever", it.place, it.topic)
        : lab.commitForever(it.place, it.topic));
    },
    { place, topic },
  );
  return {
    get acknowledged() {
      return heard.acknowledged;
    },
    async more(commits) {
      const goal = heard.commits + commits;
      while (heard.commits < goal) {
        if (heard.failure !== null) throw heard.failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    stop,
  };
}

/** What is stored, once nobody writes any more. */
export function audit(tab: Tab, place: Place): Promise<{ readonly n: number; readonly problems: readonly string[] }> {
  return tab.evaluate((it) => (it.on === "OPFS" ? lab.inWorker("audit", it) : lab.audit(it)), place);
}
