// Which browsers are here: the system's own, or those that Playwright downloaded, and what to do when there is none. Starts
// none of them.
import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, firefox } from "@playwright/test";

/** @param {string} program */
function onPath(program) {
  const found = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program));
  return (
    found.find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }) ?? null
  );
}

/** Whether Python has what webkit.py imports. */
function hasWebKitGtk() {
  try {
    const source = "import gi; gi.require_version('Gtk', '3.0'); gi.require_version('WebKit2', '4.1')";
    execFileSync("/usr/bin/python3", ["-c", source], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/**
 * @typedef {"chromium" | "firefox" | "webkit"} EngineName
 * @typedef {{ readonly path: string | null }} Found With no path: Playwright's own.
 * @typedef {{ readonly find: () => Found | null, readonly install: string }} Seeker
 */

/** @type {Readonly<Record<EngineName, Seeker>>} */
export const ENGINES = {
  chromium: {
    find() {
      const path = onPath("chromium") ?? onPath("chromium-browser") ?? onPath("google-chrome");
      if (path !== null) return { path };
      return existsSync(chromium.executablePath()) ? { path: null } : null;
    },
    install: "npx playwright install --with-deps chromium",
  },
  firefox: {
    find() {
      const path = onPath("firefox-esr") ?? onPath("firefox");
      if (path !== null) return { path };
      return existsSync(firefox.executablePath()) ? { path: null } : null;
    },
    install: "npx playwright install --with-deps firefox",
  },
  webkit: {
    // Playwright's own WebKit keeps no profile; WebKitGTK's WebDriver does.
    find: () => (["WebKitWebDriver", "Xvfb"].every(onPath) && hasWebKitGtk() ? { path: null } : null),
    install:
      "sudo apt-get install -y --no-install-recommends webkit2gtk-driver gir1.2-webkit2-4.1 python3-gi xvfb fonts-dejavu-core",
  },
};

/** What to say when an engine is not there. @param {EngineName} engine */
export const missing = (engine) => `no ${engine} is installed here; this installs one: ${ENGINES[engine].install}`;
