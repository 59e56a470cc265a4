// Nothing outlives the store: the image is all there is. For tests, and for runs that need no tomorrow.
import type { Position, SyncAdapter } from "../src/port.ts";

/** An adapter that keeps nothing. */
export function memoryAdapter(): SyncAdapter {
  const position: Position = { adapter: "memory" };
  return {
    synchronous: true,
    name: "memory",
    place: ":memory:",
    supports: { durable: false, shared: false, strict: false },
    load: () => ({ pageSize: 4096, pageCount: 0, chunks: [], position }),
    pull: () => null,
    lock: () => () => {},
    append: () => position,
    checkpoint: () => {},
    close: () => {},
  };
}
