// The contract suite as a list: each scenario is a test of its own outside, and runs by its number in here. Runs in pages
// and, for the names alone, in the test process.
import { contract, type GoldenDatabase, type Target } from "perdure/contract";

/** The databases that the original wrote, under src/contract/golden. */
export const GOLDEN: readonly { readonly name: string; readonly wal: string | null }[] = [
  { name: "checkpointed.db", wal: null },
  { name: "rollback-mode.db", wal: null },
  { name: "uncheckpointed.db", wal: "uncheckpointed.db-wal" },
];

export interface Listed {
  readonly title: string;
  /** Ruled out by the adapter's `supports`. */
  readonly skipped: boolean;
  run(): Promise<void>;
}

/** Every scenario for a target, in the suite's order. */
export function scenariosOf(target: Target, golden: readonly GoldenDatabase[]): Listed[] {
  const listed: Listed[] = [];
  const path: string[] = [];
  const add =
    (skipped: boolean) =>
    (name: string, run: () => Promise<void>): void => {
      // The target's own name is the outermost of the path.
      listed.push({ title: [...path.slice(1), name].join(" › "), skipped, run });
    };
  const describe = (name: string, define: () => void): void => {
    path.push(name);
    define();
    path.pop();
  };
  contract({ describe, test: Object.assign(add(false), { skip: add(true) }) }, target, { golden });
  return listed;
}
