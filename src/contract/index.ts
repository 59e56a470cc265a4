// The contract suite: every operation, law and edge of the stored contract, run against a store on a kind of place. The
// runner and the target are given, so an adapter's author proves theirs with it. It may not know adapters or runners.
import { goldenChapter } from "./golden.ts";
import type { Chapter, Scenario } from "./scenario.ts";
import { closing } from "./scenarios/closing.ts";
import { commits } from "./scenarios/commit.ts";
import { cursors } from "./scenarios/cursors.ts";
import { duringFlush } from "./scenarios/during-flush.ts";
import { executions } from "./scenarios/executions.ts";
import { faults } from "./scenarios/faults.ts";
import { groups } from "./scenarios/groups.ts";
import { inFlight } from "./scenarios/in-flight.ts";
import { listing } from "./scenarios/listing.ts";
import { others } from "./scenarios/others.ts";
import { records } from "./scenarios/records.ts";
import { relay } from "./scenarios/relay.ts";
import { stored } from "./scenarios/stored.ts";
import { timerChapter } from "./scenarios/timers.ts";
import { trace } from "./scenarios/trace.ts";
import { userJson } from "./scenarios/user-json.ts";
import { verifying } from "./scenarios/verifying.ts";
import { watching, watchingInFlight } from "./scenarios/watching.ts";
import { play, playAsync, type Store } from "./stage.ts";
import type { ContractData, Runner, Target } from "./target.ts";

export type { GoldenDatabase, GoldenExpected } from "./golden.ts";
export type { AsyncTarget, ContractData, Place, Runner, SyncTarget, Target } from "./target.ts";

const CHAPTERS: readonly Chapter[] = [
  ...[executions, commits, records, stored, userJson, relay, timerChapter, trace],
  ...[listing, cursors, closing, faults, others, watching, verifying],
];

/**
 * Registers every scenario with a test runner.
 *
 * @example
 * ```ts
 * import { describe, test } from "vitest";
 * import { contract } from "perdure/contract";
 *
 * contract({ describe, test }, { name: "AsyncSqliteStore on mine", store: "AsyncSqliteStore", supports, newPlace });
 * ```
 */
export function contract(runner: Runner, target: Target, data: ContractData = {}): void {
  const register = <S extends Store>(
    { title, scenarios }: Chapter<S>,
    act: (run: Scenario<S>["run"]) => Promise<void>,
  ) =>
    runner.describe(title, () => {
      for (const { name, needs, run } of scenarios) {
        // The one place where a scenario is skipped, for all to see in the report, and only for what the adapter itself says it
        // cannot do (L8).
        const supported = needs.every((need) => target.supports[need]);
        (supported ? runner.test : runner.test.skip)(name, () => act(run));
      }
    });
  runner.describe(target.name, () => {
    for (const chapter of CHAPTERS) register(chapter, (run) => play(target, run));
    for (const database of data.golden ?? []) register(goldenChapter(database), (run) => play(target, run));
    if (target.store === "AsyncSqliteStore") {
      for (const chapter of [groups, duringFlush, inFlight, watchingInFlight])
        register(chapter, (run) => playAsync(target, run));
    }
  });
}
