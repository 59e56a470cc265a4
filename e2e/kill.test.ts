// kill -9 in a commit loop, a few times; `npm run test:kill` does it 200 times.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newExecution, SqliteStore } from "perdure";
import { describe, expect, onTestFinished, test } from "vitest";
import { nextCommit } from "./books.js";
import { auditFile } from "./inspect.js";
import { killRounds } from "./kill.js";
import { STOCK } from "./stock.js";

describe("kill -9 while committing", () => {
  test("L2 L5 a sound file with every acknowledged commit, once and whole", { timeout: 300_000 }, async () => {
    const { acknowledged, problems } = await killRounds({ rounds: 12, seed: Math.floor(Math.random() * 1e6) });
    expect(problems).toEqual([]);
    expect(acknowledged).toBeGreaterThan(0);
  });

  // The test above asks every stock SQLite that is installed; these say which ones were, and that they would have told.
  for (const { name, stock, isInstalled } of STOCK) {
    test.skipIf(!isInstalled)(`L2 ${name} tells of a commit that is lost or half`, async () => {
      const folder = await mkdtemp(join(tmpdir(), "perdure-kill-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const file = join(folder, "a.db");
      const store = await SqliteStore.create(file);
      const exe = newExecution({ id: "lane", definition_id: "lane" });
      for (let version = 1; version <= 3; version++) store.commit(exe, nextCommit(exe, 10));
      const audit = (version: number) =>
        auditFile(file, join(folder, "copy.db"), new Map([["lane", version]]), 0, [stock]);
      expect(await audit(3)).toEqual([]);
      expect(await audit(4)).toContain(`${name}: lane: acknowledged up to version 4, found 3`);
      store.ackOutbox(2);
      expect(await audit(3)).toContain(`${name}: lane: messages is 2 at version 3`);
      store.close();
    });
  }
});
