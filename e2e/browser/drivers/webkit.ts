// WebKit, through WebKitGTK's own WebDriver and a browser of our own (webkit.py), on a display that nobody sees.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Server } from "../server.ts";
import type { Launch, RunningBrowser, Tab } from "./driver.ts";
import { endGroup } from "./group.ts";
import { WebDriverSession } from "./webdriver.ts";

const BROWSER = fileURLToPath(new URL("webkit.py", import.meta.url));

/** A display. Its number is the one that was free. */
export async function startDisplay(): Promise<{ readonly name: string; stop(): Promise<void> }> {
  const xvfb = spawn("Xvfb", ["-displayfd", "3", "-nolisten", "tcp", "-screen", "0", "1280x1024x24"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const ended = once(xvfb, "exit");
  const number = once(xvfb.stdio[3]!, "data").then(([data]) => String(data).trim());
  const first = await Promise.race([number, ended.then(() => null)]);
  if (first === null) throw new Error("Xvfb did not start");
  return {
    name: `:${first}`,
    async stop() {
      xvfb.kill();
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Waits until the driver answers, or is gone. */
async function answers(base: string, driver: ChildProcess): Promise<void> {
  while (driver.exitCode === null && driver.signalCode === null) {
    const up = await fetch(`${base}/status`).then(
      (response) => response.ok,
      () => false,
    );
    if (up) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("WebKitWebDriver did not start");
}

/** Functions run in a page tell the server what came of them: WebDriver itself waits for one script at a time. */
interface Settled {
  readonly call: number;
  readonly value?: unknown;
  readonly error?: string;
}

export function webkitLauncher(display: string, server: Server): Launch {
  let calls = 0;
  return async (profile) => {
    const port = await freePort();
    const driver = spawn("WebKitWebDriver", [`--port=${port}`], {
      // A process group of its own: the browser and all its processes are in it.
      detached: true,
      stdio: "ignore",
      env: {
        ...process.env,
        DISPLAY: display,
        PERDURE_WEBKIT_PROFILE: profile,
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
        NO_AT_BRIDGE: "1",
      },
    });
    const ended = once(driver, "exit");
    const base = `http://127.0.0.1:${port}`;
    await answers(base, driver);
    const session = await WebDriverSession.start(base, {
      browserName: "perdure-webkit",
      "webkitgtk:browserOptions": { binary: BROWSER, args: [] },
    });
    const waiting = new Map<number, (settled: Settled) => void>();
    const deaf = server.onTell("webkit", (what) => {
      const settled = what as Settled;
      waiting.get(settled.call)?.(settled);
      waiting.delete(settled.call);
    });

    /** Module scripts have run when a page is loaded; the driver does not always wait for that. */
    const load = async (path: string, body: object = {}): Promise<void> => {
      await session.send("POST", path, body);
      const script = `const [loaded] = arguments;
        if (document.readyState === "complete") loaded();
        else addEventListener("load", () => loaded());`;
      await session.send("POST", "/execute/async", { script, args: [] });
    };
    /** The windows there are: the driver opens another only from one that is. */
    const windows: string[] = [];
    const tabOf = (window: string): Tab => ({
      async evaluate<R, A>(run: (argument: A) => R, argument?: A): Promise<Awaited<R>> {
        const call = calls++;
        const result = new Promise<Settled>((resolve) => waiting.set(call, resolve));
        const script = `const [call, argument] = arguments;
          if (typeof lab === "undefined") throw new Error("the page's scripts did not run");
          (async () => (${run.toString()})(argument))()
            .then((value) => ({ call, value }), (error) => ({ call, error: lab.textOf(error) }))
            .then((settled) => lab.tell("webkit", settled));`;
        await session.within(window, () =>
          session.send("POST", "/execute/sync", { script, args: [call, argument ?? null] }),
        );
        const settled = await result;
        if (settled.error !== undefined) throw new Error(settled.error);
        return settled.value as Awaited<R>;
      },
      reload: async () => {
        await session.within(window, () => load("/refresh"));
      },
      goto: async (url) => {
        await session.within(window, () => load("/url", { url }));
      },
      close: async () => {
        await session.within(window, () => session.send("DELETE", "/window"));
        windows.splice(windows.indexOf(window), 1);
      },
    });

    const running: RunningBrowser = {
      async open(url) {
        const window = await session.alone(async () => {
          const [opener] = windows;
          if (opener !== undefined) await session.send("POST", "/window", { handle: opener });
          const handle =
            opener === undefined
              ? ((await session.send("GET", "/window")) as string)
              : ((await session.send("POST", "/window/new", { type: "tab" })) as { handle: string }).handle;
          windows.push(handle);
          await session.send("POST", "/window", { handle });
          await load("/url", { url });
          return handle;
        });
        return tabOf(window);
      },
      async kill() {
        deaf();
        await Promise.all([endGroup(driver.pid!, "SIGKILL"), ended]);
      },
      async close() {
        deaf();
        await session.alone(() => session.send("DELETE", ""));
        // The browser outlives its session.
        await Promise.all([endGroup(driver.pid!, "SIGTERM"), ended]);
      },
      async picture() {
        const [window] = windows;
        if (window === undefined) return null;
        return Buffer.from(
          (await session.within(window, () => session.send("GET", "/screenshot"))) as string,
          "base64",
        );
      },
    };
    return running;
  };
}
