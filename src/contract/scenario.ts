// What a scenario is: a stable name that cites the law, what it needs, and what it does.
import type { Supports } from "../port.ts";
import type { AsyncSqliteStore } from "../store/async-sqlite-store.ts";
import type { Stage, Store } from "./stage.ts";

export interface Scenario<S extends Store = Store> {
  readonly name: string;
  /** What the adapter must support; without it the scenario is skipped, and the report says so. */
  readonly needs: readonly (keyof Supports)[];
  run(stage: Stage<S>): Promise<void>;
}

export function scenario(name: string, run: (stage: Stage) => Promise<void>): Scenario {
  return { name, needs: [], run };
}

export function scenarioFor(
  needs: readonly (keyof Supports)[],
  name: string,
  run: (stage: Stage) => Promise<void>,
): Scenario {
  return { name, needs, run };
}

/** For what only calls in flight together can show. */
export function asyncScenario(
  name: string,
  run: (stage: Stage<AsyncSqliteStore>) => Promise<void>,
): Scenario<AsyncSqliteStore> {
  return { name, needs: [], run };
}

/** Scenarios under one heading. */
export interface Chapter<S extends Store = Store> {
  readonly title: string;
  readonly scenarios: readonly Scenario<S>[];
}
