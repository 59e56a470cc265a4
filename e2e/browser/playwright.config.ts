// Tests in real browsers, over the built package. Nothing is tried again: what fails now and then has found a bug.
import { defineConfig } from "@playwright/test";

/** Tests that are not for an engine: of the DevTools protocol, and of what an engine does not have. */
const NOT_FOR: Readonly<Record<string, RegExp>> = {
  chromium: /\.webkit\.spec\.ts$/,
  firefox: /\.(chromium|webkit)\.spec\.ts$/,
  // WebKitGTK has no origin private file system.
  webkit: /\.(chromium|opfs)\.spec\.ts$/,
};

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
  projects: Object.entries(NOT_FOR).map(([name, testIgnore]) => ({ name, testIgnore })),
});
