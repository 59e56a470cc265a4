// The processes of a browser: a group of their own, ended together.

/** Generous, because a busy machine is no failure. */
const PATIENCE_MS = 60_000;

/** Sends a signal to every process of a group, and resolves when none is left. Throws when some are there for too long. */
export async function endGroup(
  leader: number,
  signal: "SIGTERM" | "SIGKILL",
  patienceMs: number = PATIENCE_MS,
): Promise<void> {
  const start = performance.now();
  let next: number | string = signal;
  while (performance.now() - start < patienceMs) {
    try {
      process.kill(-leader, next);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH") return;
      throw error;
    }
    // From here on only asked whether it is there: not all of them are children of ours, which would tell.
    next = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const guess = "it does not end, or is dead and nobody reaps it (a container needs an init process)";
  throw new Error(`process group ${leader} is there ${patienceMs} ms after ${signal}: ${guess}`);
}
