// What each adapter promises to support, as the README's table says it. The contract suite skips what an adapter's own
// `supports` rules out (L8); held against this, an adapter that came to claim less fails instead of skipping more.
import type { Supports } from "../src/port.ts";

const DURABLE = { durable: true, strict: true } as const;

export const PROMISED = {
  memory: { durable: false, shared: false, strict: false },
  file: { ...DURABLE, shared: true },
  IndexedDB: { ...DURABLE, shared: true },
  OPFS: { ...DURABLE, shared: false },
} as const satisfies Record<string, Supports>;
