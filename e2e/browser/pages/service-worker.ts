// A service worker that uses the store. It may not import(), so it brings sql.js's wasm itself.
import { textOf } from "./lab.ts";
import { smoke } from "./smoke.ts";

addEventListener("message", (event: MessageEvent<{ place: string }>) => {
  const reply = event.ports[0]!;
  const answer = async (): Promise<void> => {
    const wasm = await (await fetch("/sql-wasm-browser.wasm")).arrayBuffer();
    reply.postMessage({ answer: await smoke(event.data.place, { wasm }) });
  };
  answer().catch((error: unknown) => reply.postMessage({ error: textOf(error) }));
});
