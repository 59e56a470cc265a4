// The store in the workers that pages share (L8): a shared worker, and a service worker, which may not import() and so is
// given sql.js's wasm. Windows and dedicated workers pass the whole contract suite: contract.spec.ts.
import { expect, test } from "./fixtures.ts";

for (const place of [":memory:", "smoke"]) {
  test(`L8 a shared worker stores in ${place}`, async ({ launch, server }) => {
    const tab = await (await launch()).open(`${server.url}/`);
    const answer = await tab.evaluate((it) => {
      const { port } = new SharedWorker("/shared-worker.js", { type: "module" });
      return new Promise((resolve) => {
        port.addEventListener("message", ({ data }) => resolve(data));
        port.start();
        port.postMessage({ place: it });
      });
    }, place);
    expect(answer).toEqual({ answer: { version: 1, trace: 1 } });
  });

  test(`L8 a service worker stores in ${place}`, async ({ launch, server }) => {
    const tab = await (await launch()).open(`${server.url}/`);
    const answer = await tab.evaluate(async (it) => {
      await navigator.serviceWorker.register("/service-worker.js", { type: "module" });
      const { active } = await navigator.serviceWorker.ready;
      const { port1, port2 } = new MessageChannel();
      return new Promise((resolve) => {
        port1.addEventListener("message", ({ data }) => resolve(data));
        port1.start();
        active!.postMessage({ place: it }, [port2]);
      });
    }, place);
    expect(answer).toEqual({ answer: { version: 1, trace: 1 } });
  });
}
