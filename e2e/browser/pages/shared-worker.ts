// A shared worker that uses the store: asked with a place, it answers with what it read.
import { textOf } from "./lab.ts";
import { smoke } from "./smoke.ts";

addEventListener("connect", (event) => {
  const port = (event as MessageEvent).ports[0]!;
  port.addEventListener("message", ({ data }: MessageEvent<{ place: string }>) => {
    smoke(data.place).then(
      (answer) => port.postMessage({ answer }),
      (error: unknown) => port.postMessage({ error: textOf(error) }),
    );
  });
  port.start();
});
