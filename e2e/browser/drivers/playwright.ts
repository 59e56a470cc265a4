// Chromium and Firefox, through Playwright.
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, BrowserType, LaunchOptions, Page } from "@playwright/test";
import type { Launch, RunningBrowser, Tab } from "./driver.ts";
import { endGroup } from "./group.ts";

export interface PlaywrightBrowser extends RunningBrowser {
  readonly context: BrowserContext;
  open(url: string): Promise<PlaywrightTab>;
}

export interface PlaywrightTab extends Tab {
  readonly page: Page;
}

/** The link in a profile that ends in the number of the browser's process. */
const LOCKS: Readonly<Record<string, string>> = { chromium: "SingletonLock", firefox: "lock" };

function tabOf(page: Page): PlaywrightTab {
  return {
    page,
    evaluate: <R, A>(run: (argument: A) => R, argument?: A): Promise<Awaited<R>> =>
      page.evaluate(run as never, argument as never),
    reload: async () => {
      await page.reload();
    },
    goto: async (url) => {
      await page.goto(url);
    },
    close: () => page.close({ runBeforeUnload: true }),
  };
}

export function launcher(
  type: BrowserType,
  options: LaunchOptions,
): (...args: Parameters<Launch>) => Promise<PlaywrightBrowser> {
  return async (profile) => {
    // A context that is not persistent keeps Chromium's storage in memory.
    const context = await type.launchPersistentContext(profile, options);
    const link = await readlink(join(profile, LOCKS[type.name()]!));
    const pid = Number(/\d+$/.exec(link)![0]);
    let blank = context.pages()[0] ?? null;
    return {
      context,
      async open(url) {
        const page = blank ?? (await context.newPage());
        blank = null;
        await page.goto(url);
        return tabOf(page);
      },
      async kill() {
        const closed = new Promise((resolve) => context.once("close", resolve));
        // Playwright starts a browser in a process group of its own.
        await Promise.all([endGroup(pid, "SIGKILL"), closed]);
      },
      close: () => context.close(),
      picture: async () => null,
    };
  };
}
