// Gives up an adapter whose store never got to work.
import type { AsyncAdapter, SyncAdapter } from "../port.ts";

/** Closes it, for whoever throws next: why it is given up is what the caller must hear, not that closing failed as well. */
export async function abandon(adapter: AsyncAdapter | SyncAdapter): Promise<void> {
  try {
    await adapter.close(null);
  } catch {
    // Said above.
  }
}
