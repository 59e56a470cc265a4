// The adapter over a platform: storage, lease and channel put together. Who imports the package gets it over the page or
// worker that they are in; tests give it another one.
import type { AsyncAdapter, Change, Position } from "../../src/port.ts";
import { ANY_CHANGE, Channel } from "./channel.ts";
import { Connection } from "./connection.ts";
import { Lease } from "./lease.ts";
import { IdleWork } from "./idle.ts";
import {
  checkIndexedDbOptions,
  DEFAULT_BUSY_TIMEOUT_MS,
  DEFAULT_OPEN_TIMEOUT_MS,
  type IndexedDbOptions,
} from "./options.ts";
import { Pause } from "./pause.ts";
import type { Platform } from "./platform.ts";
import { type LogPosition, Storage } from "./storage.ts";

/**
 * While the lease is held nobody else writes, so nothing needs to be asked. But who is frozen may lose it without
 * knowing: what storage said is believed no longer than it takes others to take a lease away.
 */
const FRESH_MS = 250;

export function adapterOn(platform: Platform, name: string, options: IndexedDbOptions): AsyncAdapter {
  checkIndexedDbOptions(name, options);
  const { durability = "strict", openTimeoutMs = DEFAULT_OPEN_TIMEOUT_MS, mustExist = false, foldBytes } = options;
  const pause = new Pause();
  const connection = new Connection(platform, name, durability, openTimeoutMs, pause);
  const storage = new Storage(connection, { mustExist, foldBytes: foldBytes ?? null });
  const watchers = new Set<(change: Change) => void>();
  /** Made when the store loads: an adapter that nobody uses holds nothing. */
  let company: Company | null = null;
  const join = (): Company =>
    (company ??= keepCompany(connection, pause, options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS, watchers));
  /** The hold and the connection under which storage was last seen to have nothing newer, and when. */
  let seen: { readonly hold: object; readonly handle: object | null; readonly at: number } | null = null;
  const isFresh = (hold: object | null): boolean =>
    seen !== null && seen.hold === hold && seen.handle === connection.handle && platform.now() - seen.at < FRESH_MS;
  const idle = new IdleWork(
    platform,
    () => storage.isLogLong,
    () => storage.foldIdle(),
  );
  /** Runs what proves that storage has nothing newer. */
  const proving = async <T>(work: () => Promise<T>): Promise<T> => {
    const hold = join().lease.hold;
    seen = null;
    const result = await work();
    if (hold !== null) seen = { hold, handle: connection.handle, at: platform.now() };
    return result;
  };
  return {
    synchronous: false,
    name: "indexeddb",
    place: name,
    supports: { durable: true, shared: true, strict: platform.hasDurability() },
    async load() {
      join();
      return storage.load();
    },
    async pull(since, pages) {
      if (isFresh(join().lease.hold)) return null;
      const news = await proving(() => storage.pull(ours(since), pages));
      idle.used();
      return news;
    },
    lock: () => join().lease.acquire(),
    append: (delta, after) => proving(() => storage.append(delta, ours(after))),
    async checkpoint(pages) {
      await storage.checkpoint(pages);
      idle.used();
    },
    async close() {
      idle.close();
      company?.leave();
      connection.close();
    },
    verify: (pages) => storage.verify(pages),
    announce: (change) => join().channel.announce(change),
    watch(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
  };
}

/** What a store shares with the others of its place. */
interface Company {
  readonly lease: Lease;
  readonly channel: Channel;
  leave(): void;
}

/** A page that still has time after so long was not stopped, whatever it was told. */
const STOPPED_MS = 2000;

function keepCompany(
  connection: Connection,
  pause: Pause,
  busyTimeoutMs: number,
  watchers: ReadonlySet<(change: Change) => void>,
): Company {
  const { platform, place } = connection;
  const channel = new Channel(platform, place);
  const lease = new Lease(platform, channel, place, busyTimeoutMs, pause);
  const tell = (change: Change): void => {
    for (const watcher of watchers) watcher(change);
  };
  channel.listen((message) => {
    if (message.type === "change") tell({ kinds: message.kinds, executionIds: message.executionIds });
  });
  let cancelWaking = (): void => {};
  const resume = (): void => {
    cancelWaking();
    channel.resume();
    pause.end();
    // Whatever was said meanwhile was not heard.
    tell(ANY_CHANGE);
  };
  const suspend = (): void => {
    cancelWaking();
    cancelWaking = platform.after(STOPPED_MS, resume);
    // Before the lease: who gets it needs storage at once.
    pause.begin();
    connection.drop();
    channel.suspend();
    lease.suspend();
  };
  const stop = platform.onLifecycle((event) => (event === "suspend" ? suspend() : resume()));
  return {
    lease,
    channel,
    leave() {
      stop();
      cancelWaking();
      // Nobody would wake it up any more.
      pause.end();
      lease.close();
      channel.close();
    },
  };
}

/** The store only hands back what it got here. */
const ours = (position: Position): LogPosition => position as LogPosition;
