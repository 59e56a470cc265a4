// The processes of a browser: a group of their own, ended together.

/** Sends a signal to every process of a group, and resolves when none is left. */
export async function endGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  let next: number | string = signal;
  for (;;) {
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
}
