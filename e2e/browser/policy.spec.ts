// The package under a strict content security policy (L8): all it needs of `script-src` beside its own files is
// 'wasm-unsafe-eval'. Where that is missing, opening a store says so (L7).
import { expect, test } from "./fixtures.ts";

const STRICT = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";
const WITHOUT_WASM = "default-src 'none'; script-src 'self'; connect-src 'self'";

const at = (url: string, policy: string): string => `${url}/?policy=${encodeURIComponent(policy)}`;

test("L8 a store works in a window and in a dedicated worker whose policy lets in WebAssembly and no eval", async ({
  launch,
  server,
}) => {
  const tab = await (await launch()).open(at(server.url, STRICT));
  const found = await tab.evaluate(async () => {
    const place = { on: "IndexedDB", name: "strict" } as const;
    const codes = [await lab.commitTimes(place, 3), await lab.inWorker("commitTimes", place, 3)];
    return { codes, window: await lab.audit(place), worker: await lab.inWorker("audit", place) };
  });
  const whole = { n: 6, problems: [] };
  expect(found).toEqual({ codes: [null, null], window: whole, worker: whole });
});

test("the policy is in force there: text is not run as code", async ({ launch, server }) => {
  const tab = await (await launch()).open(at(server.url, STRICT));
  const found = await tab.evaluate(async () => {
    const told = new Promise<string>((resolve) => {
      document.addEventListener("securitypolicyviolation", ({ violatedDirective }) => resolve(violatedDirective));
    });
    // oxlint-disable-next-line typescript/no-implied-eval -- text run as code is what the policy has to refuse
    setTimeout("globalThis.evaluated = true" as never, 0);
    return { directive: await told, evaluated: "evaluated" in globalThis };
  });
  expect(found).toEqual({ directive: "script-src", evaluated: false });
});

test("L7 without 'wasm-unsafe-eval' opening a store is an EngineFailed that names it", async ({ launch, server }) => {
  const tab = await (await launch()).open(at(server.url, WITHOUT_WASM));
  const found = await tab.evaluate(async () => {
    const { AsyncSqliteStore, EngineFailed } = lab.perdure;
    const inWindow = async (place: string) => {
      const error: unknown = await AsyncSqliteStore.create(place).catch((one: unknown) => one);
      return error instanceof EngineFailed ? { code: error.code, message: error.message } : String(error);
    };
    const place = { on: "IndexedDB", name: "refused" } as const;
    const inWorker = await lab.inWorker("audit", place).then(JSON.stringify, String);
    return { memory: await inWindow(":memory:"), stored: await inWindow(place.name), inWorker };
  });
  const message = expect.stringContaining("add 'wasm-unsafe-eval' to its script-src");
  expect(found).toEqual({
    memory: { code: "engine-failed", message },
    stored: { code: "engine-failed", message },
    inWorker: message,
  });
});
