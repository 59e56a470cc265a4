// The dedicated worker of a test page: runs scenarios by number.
import { lab, textOf } from "./lab.ts";

addEventListener("message", (event: MessageEvent<{ call: number; target: string; index: number }>) => {
  const { call, target, index } = event.data;
  lab.scenario(target, index).then(
    (outcome) => postMessage({ call, outcome }),
    (error: unknown) => postMessage({ call, error: textOf(error) }),
  );
});
