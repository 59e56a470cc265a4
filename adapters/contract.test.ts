// The contract suite over every target, and the golden databases for those that take files.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PROMISED } from "../e2e/promised.ts";
import { TARGETS } from "../e2e/targets.ts";
import { contract, type GoldenDatabase, type GoldenExpected } from "../src/contract/index.ts";

const golden = (name: string): Uint8Array => readFileSync(new URL(`../src/contract/golden/${name}`, import.meta.url));
const expected = JSON.parse(golden("expected.json").toString()) as GoldenExpected;
const databases: GoldenDatabase[] = [
  { name: "checkpointed.db", database: golden("checkpointed.db"), wal: null, expected },
  { name: "rollback-mode.db", database: golden("rollback-mode.db"), wal: null, expected },
  { name: "uncheckpointed.db", database: golden("uncheckpointed.db"), wal: golden("uncheckpointed.db-wal"), expected },
];

/** Where browsers keep things is played by doubles, under Node; Deno and Bun have no such adapters to prove. */
const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
const { "./memory": memory, "./file": file } = TARGETS;

for (const { sync, async } of isNode ? Object.values(TARGETS) : [memory, file]) {
  if (sync !== null) contract({ describe, test }, sync, { golden: databases });
  contract({ describe, test }, async, { golden: databases });
}

test.each([
  ["memory", TARGETS["./memory"].async, PROMISED.memory],
  ["file", TARGETS["./file"].async, PROMISED.file],
  ["indexeddb", TARGETS["./indexeddb"].async, PROMISED.IndexedDB],
  // What OPFS says is asked in browsers: it has to be opened for that.
])(
  "L8 what the adapter %s supports is what it promises, so that nothing more is skipped",
  (_, { supports }, promised) => {
    expect(supports).toEqual(promised);
  },
);
