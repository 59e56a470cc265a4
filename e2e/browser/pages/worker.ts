// The dedicated worker of a test page: the lab's functions, called from its window.
import { lab, textOf } from "./lab.ts";
import type { WorkerAnswer, WorkerCall } from "./worker-call.ts";

addEventListener("message", ({ data: { call, name, args } }: MessageEvent<WorkerCall>) => {
  const answer = (one: WorkerAnswer): void => postMessage(one);
  const run = lab[name] as (...all: readonly unknown[]) => Promise<unknown>;
  run(...args).then(
    (value) => answer({ call, value }),
    (error: unknown) => answer({ call, error: textOf(error) }),
  );
});
