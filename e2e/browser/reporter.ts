// Ends a run with the line "N passed, N failed, N skipped", as e2e/closing.js says it. Stands beside a reporter that is
// for people.
import type { FullResult, Reporter, Suite } from "@playwright/test/reporter";
import { close } from "../closing.js";

export default class ClosingLine implements Reporter {
  #suite: Suite | null = null;
  #errors = 0;

  printsToStdio(): boolean {
    return false;
  }

  onBegin(_config: unknown, suite: Suite): void {
    this.#suite = suite;
  }

  /** An error outside of any test: a file that could not be loaded, a worker that crashed. */
  onError(): void {
    this.#errors++;
  }

  onEnd({ status }: FullResult): void {
    const counts = { passed: 0, failed: this.#errors, skipped: 0 };
    for (const test of this.#suite?.allTests() ?? []) {
      // What did not run has no result: nobody ruled it out, so it failed.
      const ran = test.results.length > 0;
      if (ran && test.outcome() === "expected") counts.passed++;
      else if (ran && test.outcome() === "skipped" && test.results[0]!.status === "skipped") counts.skipped++;
      else counts.failed++;
    }
    if (status !== "passed" && counts.failed === 0) counts.failed = 1;
    close(counts);
  }
}
