// Ends a test run with one plain line, "N passed, N failed, N skipped" (closing.js). Stands after vitest's own reporter,
// which is for people.
import type { Reporter, TestModule } from "vitest/node";
import { close, type Counts } from "./closing.js";

/** A file that could not even be loaded counts as one failure, and so does an error outside of any test. */
function count(modules: readonly TestModule[], errorsOutside: number): Counts {
  const counts: Counts = { passed: 0, failed: errorsOutside, skipped: 0 };
  for (const module of modules) {
    let failures = 0;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") counts.passed++;
      else if (state === "failed") failures++;
      else counts.skipped++;
    }
    counts.failed += failures === 0 && module.state() === "failed" ? 1 : failures;
  }
  return counts;
}

/** The reporter. */
export function closingLine(): Reporter {
  return {
    onTestRunEnd(modules, errors) {
      close(count(modules, errors.length));
    },
  };
}
