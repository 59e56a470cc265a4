// The page of `npm run demo`, driven as people drive it: what was done is there after a reload, a kill, in a second tab and
// without a network. Built here, served from its own origin; whatever it prints to the console fails the test.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Locator, Page } from "@playwright/test";
import { build } from "vite";
import { expect as impatient, test as base } from "./fixtures.ts";
import type { PlaywrightBrowser } from "./drivers/playwright.ts";
import { serve, type Server } from "./server.ts";

/** A busy machine is no failure. */
const expect = impatient.configure({ timeout: 60_000 });
const CONFIG = fileURLToPath(new URL("../../demo/page/vite.config.ts", import.meta.url));

interface Shop {
  readonly browser: PlaywrightBrowser;
  /** What pages printed to the console; none may be left at the end. */
  readonly complaints: string[];
  /** A new tab with the page, its store open. */
  open(): Promise<Page>;
}

const test = base.extend<{ startShop: () => Promise<Shop>; shop: Shop }, { demo: Server }>({
  demo: [
    async ({}, use) => {
      const outDir = await mkdtemp(join(tmpdir(), "perdure-demo-page-"));
      await build({ configFile: CONFIG, logLevel: "error", build: { outDir, emptyOutDir: true } });
      const server = await serve(outDir);
      await use(server);
      await server.stop();
      await rm(outDir, { recursive: true });
    },
    { scope: "worker" },
  ],
  /** Starts the browser on the test's profile. */
  startShop: async ({ launchPlaywright, demo }, use) => {
    const complaints: string[] = [];
    await use(async () => {
      const browser = await launchPlaywright();
      listen(browser.context, complaints);
      const open = async (): Promise<Page> => {
        const { page } = await browser.open(`${demo.url}/`);
        await expect(page.getByRole("button", { name: "New order" })).toBeVisible();
        return page;
      };
      return { browser, complaints, open };
    });
    expect(complaints).toEqual([]);
  },
  shop: async ({ startShop }, use) => use(await startShop()),
});

function listen(context: BrowserContext, complaints: string[]): void {
  context.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  context.on("weberror", (error) => complaints.push(String(error.error())));
}

const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });
const active = (page: Page, state: string): Locator => page.locator(`[data-state="${state}"][aria-current]`);
const steps = (page: Page): Locator => page.locator(".step");

/** A new order with two things in it, checked out. */
async function checkOut(page: Page): Promise<void> {
  await button(page, "New order").click();
  for (const item of ["lamp", "atlas"]) {
    await page.getByLabel("Item").selectOption(item);
    await button(page, "Add").click();
    await expect(page.locator(".basket")).toContainText(item, { ignoreCase: true });
  }
  await button(page, "Check out").click();
  await expect(active(page, "Order.Pay.Waiting")).toBeVisible();
}

/** Paid; both regions have begun. */
async function pay(page: Page): Promise<void> {
  await button(page, "Pay").click();
  await expect(active(page, "Order.Fulfil.Pack.Picking")).toBeVisible();
  await expect(active(page, "Order.Fulfil.Invoice.Drafting")).toBeVisible();
}

/** Both regions, and the child. */
async function deliver(page: Page): Promise<void> {
  for (const name of ["Draft is done", "Send", "Pick lamp", "Pick atlas", "Collect", "Nobody home", "Hand over"]) {
    await button(page, name).click();
  }
  await expect(active(page, "Order.Done")).toBeVisible();
}

const sqlite3 = (file: string, sql: string): string =>
  execFileSync("sqlite3", ["-readonly", file, sql]).toString().trim();

async function download(page: Page): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Download database").click()]);
  expect(file.suggestedFilename()).toBe("orders.db");
  return file.path();
}

test("an order goes all the way, and only what applies can be pressed", async ({ shop }) => {
  const page = await shop.open();
  await button(page, "New order").click();
  await expect(button(page, "Add")).toBeEnabled();
  for (const name of ["Check out", "Pay", "Pick item", "Draft is done", "Collect"]) {
    await expect(button(page, name)).toBeDisabled();
  }
  await checkOut(page);
  await expect(button(page, "Add")).toBeDisabled();
  await pay(page);
  await expect(button(page, "Cancel order")).toBeDisabled();
  await expect(button(page, "Send")).toBeDisabled();
  await deliver(page);
  await expect(page.locator(".status")).toHaveText("delivered");
  await expect(page.locator(".delivered")).toContainText("carrier");
  await expect(page.locator('[data-count="Messages to deliver"]')).toHaveText("0");
});

test("L2 a reload shows the same order in the same states", async ({ shop }) => {
  const page = await shop.open();
  await checkOut(page);
  await pay(page);
  await button(page, "Pick lamp").click();
  await expect(button(page, "Pick atlas")).toBeEnabled();
  const before = await steps(page).allTextContents();
  await page.reload();
  await expect(active(page, "Order.Fulfil.Pack.Picking")).toBeVisible();
  await expect(active(page, "Order.Fulfil.Invoice.Drafting")).toBeVisible();
  await expect(steps(page)).toHaveText(before);
  await deliverRest(page);
});

async function deliverRest(page: Page): Promise<void> {
  for (const name of ["Pick atlas", "Draft is done", "Send", "Collect", "Hand over"]) await button(page, name).click();
  await expect(active(page, "Order.Done")).toBeVisible();
}

test("L2 a killed browser goes on where it was, with what the outbox holds", async ({ startShop }) => {
  const first = await startShop();
  const page = await first.open();
  await checkOut(page);
  await page.getByRole("switch", { name: "Relay" }).uncheck();
  await button(page, "Pay").click();
  await expect(page.locator('[data-count="Children to start"]')).toHaveText("2");
  await first.browser.kill();

  const second = await startShop();
  const again = await second.open();
  // A new tab relays: the two children are started, and what they tell is delivered.
  await expect(active(again, "Order.Fulfil.Pack.Picking")).toBeVisible();
  await expect(again.locator(".delivered li")).toHaveCount(2);
  await button(again, "Pick lamp").click();
  await deliverRest(again);
});

test("L4 a second tab follows, and what both relay happens once", async ({ shop }) => {
  const [one, two] = [await shop.open(), await shop.open()];
  await checkOut(one);
  await two.locator(".order").first().click();
  await expect(active(two, "Order.Pay.Waiting")).toBeVisible();
  // Nothing is to be relayed yet: all of it was done by the one.
  await expect(two.locator(".instruments")).toContainText("another tab");
  await pay(two);
  await expect(active(one, "Order.Fulfil.Invoice.Drafting")).toBeVisible();
  await deliver(one);
  await expect(active(two, "Order.Done")).toBeVisible();
  // Start, two items, checkout, paid, two regions done, shipment done; two picked; drafted, sent; four of the shipment.
  for (const page of [one, two]) {
    await expect(steps(page)).toHaveCount(8 + 3 + 3 + 4);
    await expect(page.locator(".delivered li")).toHaveCount(3);
  }
});

test("a timer that was due while the page was closed fires late, in two tabs once", async ({ shop }) => {
  const page = await shop.open();
  await checkOut(page);
  await expect(page.getByRole("timer")).toHaveText(/^0:\d\d$/);
  await page.close();
  await shop.browser.context.clock.install({ time: Date.now() + 100_000 });
  const [one, two] = [await shop.open(), await shop.open()];
  for (const tab of [one, two]) {
    await expect(active(tab, "Order.Pay.Reminded")).toBeVisible();
    await expect(steps(tab).first()).toContainText("late, the page was away");
    await expect(steps(tab).filter({ hasText: "timeout" })).toHaveCount(1);
    // Further than a timer of the browser can count.
    await expect(tab.getByRole("timer")).toHaveText(/^(30 d 00|29 d 23):\d\d:\d\d$/);
  }
  await one.close();
  // In two steps: one of more than 2^31 - 1 ms is too far for Playwright, too.
  for (const days of [16, 16]) await shop.browser.context.clock.fastForward(days * 24 * 3600 * 1000);
  await expect(active(two, "Order.Cancelled")).toBeVisible();
  await expect(steps(two).filter({ hasText: "timeout" })).toHaveCount(2);
});

test("500 orders: filter and pages, and a database that sqlite3 opens", async ({ shop }) => {
  const page = await shop.open();
  await button(page, "Make 500 orders").click();
  await expect(button(page, "Make 500 orders")).toBeDisabled();
  await expect(button(page, "Make 500 orders")).toBeEnabled({ timeout: 150_000 });

  const counted: Record<string, number> = {};
  for (const status of ["Done", "Cancelled", "Failed"]) {
    await button(page, status).click();
    const seen = new Set<string>();
    for (let number = 1; ; number++) {
      await expect(page.locator(".pages")).toContainText(`Page ${number}`);
      for (const code of await page.locator(".order .code").allTextContents()) seen.add(code);
      if (await button(page, "Next").isDisabled()) break;
      await button(page, "Next").click();
    }
    counted[status] = seen.size;
  }
  expect(counted).toEqual({ Done: 63, Cancelled: 63, Failed: 62 });
  await button(page, "Back").click();
  await expect(page.locator(".order")).toHaveCount(8);

  const file = await download(page);
  expect(sqlite3(file, "PRAGMA integrity_check")).toBe("ok");
  expect(sqlite3(file, "SELECT count(*) FROM executions WHERE definition_id = 'order'")).toBe("500");
  expect(sqlite3(file, "SELECT count(*) FROM executions WHERE json_extract(data, '$.outcome') = 'delivered'")).toBe(
    "126",
  );
  expect(sqlite3(file, "SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM spawns)")).toBe("0");
});

test("without a network the page opens, and goes on", async ({ shop }) => {
  const page = await shop.open();
  await expect(page.locator(".instruments")).toContainText("Works offline");
  await shop.browser.context.setOffline(true);
  await page.reload();
  await checkOut(page);
  await page.reload();
  await expect(active(page, "Order.Pay.Waiting")).toBeVisible();
});

test("the page's policy lets in its own files and WebAssembly, and no eval", async ({ shop }) => {
  const page = await shop.open();
  const policy = await page.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content");
  expect(policy?.split("; ")).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "style-src 'self'"]),
  );
  // It is in force: what it forbids is not done, and told.
  await page.evaluate(() => document.documentElement.setAttribute("style", "opacity: 0.5"));
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).opacity)).toBe("1");
  await expect.poll(() => shop.complaints.length).toBe(1);
  expect(shop.complaints.pop()).toContain("Content Security Policy");
});

test("L7 where storage is refused, the page says what to do", async ({ startShop, demo }) => {
  const { browser } = await startShop();
  await browser.context.addInitScript(() => Object.defineProperty(globalThis, "indexedDB", { value: undefined }));
  const { page } = await browser.open(`${demo.url}/`);
  await expect(page.locator("#board")).toContainText("This browser cannot keep the database");
  await expect(button(page, "Try again")).toBeVisible();
});
