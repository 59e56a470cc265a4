// Tests in real browsers, over the built package. Nothing is tried again: what fails now and then has found a bug.
import { defineConfig } from "@playwright/test";

const ENGINES = ["chromium", "firefox", "webkit"];
/** Tests that need the DevTools protocol. */
const CHROMIUM_ALONE = /\.chromium\.spec\.ts$/;

/** Runs at the same time do not meet; the workers of one do. */
process.env["PERDURE_TEST_RUN"] ??= String(process.pid);

export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: `results/${process.env["PERDURE_TEST_RUN"]}`,
  globalSetup: "./setup.ts",
  fullyParallel: true,
  forbidOnly: process.env["CI"] !== undefined,
  retries: 0,
  workers: 2,
  // Generous, because a busy machine is no failure: nothing here asserts how long things take.
  timeout: 180_000,
  reporter: [["dot"], ["./reporter.ts"]],
  use: { trace: "retain-on-failure", screenshot: "only-on-failure" },
  projects: ENGINES.map((name) => ({ name, ...(name === "chromium" ? {} : { testIgnore: CHROMIUM_ALONE }) })),
});
