// Work that is asked for whenever it may be needed, and done one at a time.

/**
 * Does `work` once more when it was asked for while it ran, whatever came of that; never twice at a time. Rejections go to
 * `onError`. Resolves when nothing is asked for any more.
 */
export function coalesced(work: () => Promise<void>, onError: (error: unknown) => void): () => Promise<void> {
  let wanted = false;
  let running: Promise<void> | null = null;
  async function once(): Promise<void> {
    try {
      await work();
    } catch (error) {
      onError(error);
    }
  }
  async function run(): Promise<void> {
    try {
      while (wanted) {
        wanted = false;
        await once();
      }
    } finally {
      running = null;
    }
  }
  return () => {
    wanted = true;
    return (running ??= run());
  };
}
