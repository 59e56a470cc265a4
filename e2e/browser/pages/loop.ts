// Commits as fast as it can, for tests that end it from outside; and looks afterwards at what is there.
import { AsyncSqliteStore, Fenced, newExecution, type PerdureError, StoreConflict } from "perdure";
import { indexedDbAdapter } from "perdure/indexeddb";
import { openOpfs } from "perdure/opfs";

export interface Place {
  readonly on: "IndexedDB" | "OPFS";
  readonly name: string;
  /** So little that the log is folded all the time; or the adapter's own. */
  readonly foldBytes?: number;
}

async function open({ on, name, foldBytes }: Place): Promise<AsyncSqliteStore> {
  if (on === "OPFS") return AsyncSqliteStore.create(await openOpfs(name));
  return AsyncSqliteStore.create(indexedDbAdapter(name, foldBytes === undefined ? {} : { foldBytes }));
}

/** The one Execution. Each commit adds one to `n`, and one of everything else that a commit writes. */
const ID = "counter";

async function commitOnce(store: AsyncSqliteStore): Promise<number> {
  const exe = (await store.load(ID)) ?? newExecution({ id: ID, definition_id: "counter", context: { n: 0 } });
  const n = (exe.context["n"] as number) + 1;
  exe.context["n"] = n;
  await store.commit(exe, {
    emits: [{ event: { kind: "Counted", data: { n } } }],
    processedEventId: `event-${n}`,
    timers: [{ op: "schedule", path: "Counter.Next", fire_at: n }],
    trace: { n, text: "x".repeat((n * 997) % 3000) },
  });
  return n;
}

/**
 * Tells of every commit. Tries again when somebody else was faster or had taken the lease. Ends only with the page, or
 * with any other error, which it tells.
 */
export async function commitForever(place: Place, topic: string): Promise<void> {
  const tell = (what: object): Promise<unknown> =>
    // Not waited for: the next commit is under way when the test hears of this one.
    fetch(`/tell?topic=${topic}`, { method: "POST", body: JSON.stringify(what), keepalive: true }).catch(() => {});
  try {
    const store = await open(place);
    for (;;) {
      try {
        void tell({ n: await commitOnce(store) });
      } catch (error) {
        if (!(error instanceof StoreConflict || error instanceof Fenced)) throw error;
      }
    }
  } catch (error) {
    await tell({ error: String(error) });
  }
}

/** Commits so often, again on a conflict. Returns the codes of other errors there were: they end it. */
export async function commitTimes(place: Place, times: number): Promise<string | null> {
  const store = await open(place);
  try {
    for (let done = 0; done < times;) {
      try {
        await commitOnce(store);
        done++;
      } catch (error) {
        if (!(error instanceof StoreConflict)) return (error as PerdureError).code ?? String(error);
      }
    }
    return null;
  } finally {
    await store.close();
  }
}

/** What is stored: the number of commits, and everything that is not as so many commits leave it. */
export async function audit(place: Place): Promise<{ readonly n: number; readonly problems: readonly string[] }> {
  const store = await open(place);
  try {
    const problems = (await store.verify()).map((problem) => JSON.stringify(problem));
    const exe = await store.load(ID);
    const n = exe === null ? 0 : (exe.context["n"] as number);
    const check = (fine: boolean, what: string): void => {
      if (!fine) problems.push(`${what} after ${n} commits`);
    };
    const outbox = await store.pendingOutbox();
    const trace = await store.readTrace(ID);
    const timers = await store.dueTimers(Number.MAX_SAFE_INTEGER);
    check((exe?.version ?? 0) === n, `version ${exe?.version}`);
    check(outbox.length === n && outbox.every(({ event }, i) => event.data["n"] === i + 1), `outbox ${outbox.length}`);
    check(trace.length === Math.min(n, 200) && (n === 0 || trace.at(-1)!["n"] === n), `trace ${trace.length}`);
    check(n === 0 || (timers.length === 1 && timers[0]!.fire_at === n), `timers ${timers.length}`);
    check(n === 0 || (await store.isProcessed(ID, `event-${n}`)), "no marker");
    check(!(await store.isProcessed(ID, `event-${n + 1}`)), "a marker of what was not committed");
    return { n, problems };
  } finally {
    await store.close();
  }
}
