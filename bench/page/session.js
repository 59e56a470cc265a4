// One browser with one page of the bench, on a profile of its own, which is deleted with it.
import { mkdtempSync, rmSync } from "node:fs";
import { launch } from "./browser.js";

/**
 * @typedef {object} Tools what sections are handed
 * @property {import("./browser.js").BrowserName} browser
 * @property {string} executablePath
 * @property {string} url the page of the bench
 * @property {string} folder for files, deleted at the end
 * @property {ReturnType<typeof import("./images.js").imageBuilder>} images
 * @property {boolean} quick
 * @property {(text: string) => void} print
 */

/** @typedef {typeof import("./client/observe.js").observe} Observe */

/**
 * @typedef {object} Session
 * @property {import("./contest.js").Ask} ask
 * @property {(...what: Parameters<Observe>) => ReturnType<Observe>} observe
 * @property {() => Promise<void>} reload
 * @property {() => Promise<string>} version of the browser
 */

/**
 * @template T
 * @param {Tools} tools
 * @param {(session: Session) => Promise<T>} work
 * @param {string} [executablePath] when it is not the browser itself
 * @returns {Promise<T>}
 */
export async function withSession(tools, work, executablePath = tools.executablePath) {
  const profile = mkdtempSync(`${tools.folder}/profile-`);
  const context = await launch(tools.browser, executablePath, profile);
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    page.setDefaultTimeout(0);
    page.on("pageerror", (error) => tools.print(`the page: ${error.message}`));
    const arrive = () => page.waitForFunction("globalThis.bench !== undefined");
    await page.goto(tools.url);
    await arrive();
    return await work({
      // What is called there, and its types, are those of client/page.js.
      ask: (message) => page.evaluate((one) => /** @type {any} */ (globalThis).bench.ask(one), message),
      observe: (...what) => page.evaluate((all) => /** @type {any} */ (globalThis).bench.observe(...all), what),
      async reload() {
        await page.reload();
        await arrive();
      },
      version: () => page.evaluate(() => navigator.userAgent),
    });
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}
