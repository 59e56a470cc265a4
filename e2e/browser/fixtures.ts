// What the tests are given: a server and an engine for each test worker, fresh profiles, and browsers on them that are
// closed after the test, whatever happened.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, firefox, type LaunchOptions, test as base } from "@playwright/test";
import { PAGES } from "./build.ts";
import type { Launch, RunningBrowser } from "./drivers/driver.ts";
import { launcher, type PlaywrightBrowser } from "./drivers/playwright.ts";
import { startDisplay, webkitLauncher } from "./drivers/webkit.ts";
import { ENGINES, type EngineName, missing } from "./find.js";
import { serve, type Server } from "./server.ts";
import type { WindowLab } from "./pages/page.ts";

declare global {
  /** What a function finds that a test evaluates in a page. */
  var lab: WindowLab;
}

const CHROMIUM_FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update"],
];
// Without these, asking for persistent storage waits for a person.
const FIREFOX_PREFERENCES = {
  "dom.storageManager.prompt.testing": true,
  "dom.storageManager.prompt.testing.allow": true,
};

function playwrightLauncher(engine: "chromium" | "firefox"): ReturnType<typeof launcher> {
  const { path } = ENGINES[engine].find() ?? { path: null };
  const system: LaunchOptions = path === null ? {} : { executablePath: path };
  if (engine === "chromium") {
    // As people have it: pages that were left are kept to go back to.
    const ignoreDefaultArgs = ["--disable-back-forward-cache"];
    return launcher(chromium, { ...system, args: CHROMIUM_FLAGS, ignoreDefaultArgs });
  }
  // The system's Firefox has no patches of Playwright's, so it is driven by the standard protocol.
  const channel = path === null ? {} : { channel: "moz-firefox" };
  return launcher(firefox, { ...system, ...channel, firefoxUserPrefs: FIREFOX_PREFERENCES });
}

interface WorkerFixtures {
  readonly engine: EngineName;
  readonly server: Server;
  readonly launchAny: Launch;
  /** One browser for all tests of the worker that leave nothing behind. */
  readonly shared: RunningBrowser;
}

interface TestFixtures {
  /** A fresh folder. */
  readonly profile: string;
  /** Starts the engine on the test's profile; again, when it was closed or killed. */
  readonly launch: () => Promise<RunningBrowser>;
  /** The same, for what only Playwright can do. */
  readonly launchPlaywright: () => Promise<PlaywrightBrowser>;
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  engine: [
    async ({}, use, { project }) => {
      const engine = project.name as EngineName;
      if (ENGINES[engine].find() === null) throw new Error(missing(engine));
      await use(engine);
    },
    { scope: "worker" },
  ],
  server: [
    async ({}, use) => {
      const server = await serve(process.env[PAGES]!);
      await use(server);
      await server.stop();
    },
    { scope: "worker" },
  ],
  launchAny: [
    async ({ engine, server }, use) => {
      if (engine !== "webkit") return use(playwrightLauncher(engine));
      const display = await startDisplay();
      await use(webkitLauncher(display.name, server));
      await display.stop();
    },
    { scope: "worker" },
  ],
  shared: [
    async ({ launchAny }, use) => {
      const profile = await newProfile();
      const browser = await launchAny(profile);
      await use(browser);
      await browser.close();
      await rm(profile, { recursive: true, force: true });
    },
    { scope: "worker" },
  ],
  profile: async ({}, use) => {
    const profile = await newProfile();
    await use(profile);
    await rm(profile, { recursive: true, force: true });
  },
  launch: async ({ launchAny, profile }, use, info) => {
    const running = new Set<RunningBrowser>();
    await use(async () => {
      const browser = await launchAny(profile);
      running.add(browser);
      const end = (how: "close" | "kill") => async (): Promise<void> => {
        running.delete(browser);
        await browser[how]();
      };
      return { ...browser, close: end("close"), kill: end("kill") };
    });
    const failed = info.status !== info.expectedStatus;
    for (const browser of running) {
      const picture = failed ? await browser.picture() : null;
      if (picture !== null) await info.attach("screenshot", { body: picture, contentType: "image/png" });
      await browser.close();
    }
  },
  launchPlaywright: ({ launch }, use) => use(launch as TestFixtures["launchPlaywright"]),
});

const newProfile = (): Promise<string> => mkdtemp(join(tmpdir(), "perdure-profile-"));

export { expect } from "@playwright/test";
