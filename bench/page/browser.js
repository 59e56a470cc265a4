// Starts a real browser on a profile that lies on disk, and hands out its page. Finds one that is installed, else says
// what to do.
import { existsSync } from "node:fs";
import { chromium, firefox } from "@playwright/test";

/** @typedef {"chromium" | "firefox"} BrowserName */

const INSTALLED = {
  chromium: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
};

const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @param {BrowserName} name @returns {string} */
export function findBrowser(name) {
  const own = { chromium, firefox }[name].executablePath();
  const found = [process.env["BROWSER_PATH"] ?? "", own, ...INSTALLED[name]].find((path) => existsSync(path));
  if (found === undefined) {
    throw new Error(`no ${name} found: npx playwright install ${name}, or name one in BROWSER_PATH`);
  }
  return found;
}

/**
 * @param {BrowserName} name
 * @param {string} executablePath
 * @param {string} profile a folder
 */
export async function launch(name, executablePath, profile) {
  const options = { executablePath, headless: true, viewport: null };
  if (name === "chromium") {
    return chromium.launchPersistentContext(profile, { ...options, args: CHROMIUM_FLAGS });
  }
  return firefox.launchPersistentContext(profile, {
    ...options,
    channel: "moz-firefox",
    firefoxUserPrefs: {
      "dom.storageManager.prompt.testing": true,
      "dom.storageManager.prompt.testing.allow": true,
    },
  });
}
