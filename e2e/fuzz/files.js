// Cases of database files and logs that somebody damaged on purpose: opened, read, verified, salvaged, written to.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newExecution, salvage, SqliteStore } from "perdure";
import { fileAdapter } from "perdure/file";
import { answer, claim, readEverything, writeSome } from "./look.js";
import { countedBytes, mutateLog } from "./mutate-log.js";
import { mutateLength, mutatePages } from "./mutate-pages.js";

/** @typedef {import("./chance.js").Chance} Chance */
/** @typedef {{ database: Uint8Array, wal: Uint8Array | null }} Files */

/** Of a log no more than this: what is tried is the same, and cheaper. */
const LOG_BYTES = 600_000;

/** @param {string} name */
const golden = (name) =>
  new Uint8Array(readFileSync(fileURLToPath(new URL(`../../src/contract/golden/${name}`, import.meta.url))));

/** Sound databases to begin with: the original's, and one of ours with rows large and small, and free pages. */
export async function soundFiles() {
  const store = await SqliteStore.create();
  for (let i = 0; i < 60; i++) {
    const exe = newExecution({ id: `exe-${i}`, definition_id: "order", context: { text: `${i} `.repeat(i * 60) } });
    const emits = [{ target_id: `to-${i}`, event: { id: `e-${i}`, kind: "K", data: { i } } }];
    const timers = /** @type {const} */ ([{ op: "schedule", path: "P", fire_at: i }]);
    store.commit(exe, { emits, timers, spawns: [{ child_id: `c-${i}` }], processedEventId: "event", trace: { i } });
  }
  for (let seq = 1; seq < 40; seq++) store.ackOutbox(seq);
  const ours = store.exportDatabase();
  store.close();
  /** @type {Files[]} */
  const plain = [ours, golden("checkpointed.db"), golden("rollback-mode.db")].map((database) => ({
    database,
    wal: null,
  }));
  /** @type {Files} */
  const withLog = { database: golden("uncheckpointed.db"), wal: golden("uncheckpointed.db-wal").slice(0, LOG_BYTES) };
  return { plain, withLog };
}

/** @param {Chance} chance @param {readonly Files[]} sound @returns {Files} */
export function damagedImage(chance, sound) {
  const { database } = chance.pick(sound);
  const pageSize =
    (((database[16] ?? 0) << 8) | (database[17] ?? 0)) === 1 ? 65536 : ((database[16] ?? 0) << 8) | (database[17] ?? 0);
  const copy = mutatePages(database, pageSize, chance);
  return { database: chance.maybe(0.1) ? mutateLength(copy, chance) : copy, wal: null };
}

/** @param {Chance} chance @param {Files} sound @returns {Files} */
export function damagedLog(chance, { database, wal }) {
  return { database, wal: mutateLog(/** @type {Uint8Array} */ (wal), chance) };
}

/** Does all that can be done with such files. @param {Files} files @param {string} folder @param {Chance} chance */
export async function tryFiles({ database, wal }, folder, chance) {
  mkdirSync(folder);
  try {
    const file = join(folder, "a.db");
    writeFileSync(file, database);
    if (wal !== null) writeFileSync(`${file}-wal`, wal);
    const contents = (counted = Infinity) => {
      const names = readdirSync(folder).filter((name) => name.startsWith("a.db"));
      const bytesOf = (/** @type {string} */ name) => {
        const bytes = readFileSync(join(folder, name));
        const looked = name.endsWith("-wal") ? bytes.subarray(0, counted) : bytes;
        return [bytes.length, createHash("sha1").update(looked).digest("hex")];
      };
      return JSON.stringify(names.sort().map((name) => [name, bytesOf(name)]));
    };
    const before = contents();
    const { error: failed } = await answer(() => salvage(file, join(folder, "rescued.db")));
    claim(failed === null, `salvage gives a report: ${failed?.message}`);
    claim(contents() === before, "salvage leaves its source as it is");
    const rescued = await SqliteStore.create(join(folder, "rescued.db"));
    claim(
      (await readEverything(rescued)).every(({ code }) => code === "record-invalid"),
      "what was salvaged can be read",
    );
    claim(
      rescued.verify().every(({ kind }) => kind !== "sqlite" && kind !== "storage"),
      "what was salvaged is sound",
    );
    rescued.close();
    // Frames that no transaction has may be wiped, as a writer's are that died: SQLite would not read them either.
    const counted = wal === null ? 0 : countedBytes(wal);
    const kept = contents(counted);
    const opened = await answer(() => SqliteStore.create(fileAdapter(file, { durability: "relaxed" })));
    if (opened.value === null) {
      claim(contents(counted) === kept, `what is refused stays as it is (${opened.error?.code})`);
      return;
    }
    const store = opened.value;
    try {
      await readEverything(store);
      claim(Array.isArray(store.verify()), "verify gives a list");
      if (chance.maybe(0.5)) await writeSome(store);
      await readEverything(store);
    } finally {
      store.close();
    }
    const again = await answer(() => SqliteStore.create(file));
    if (again.value !== null) await readEverything(again.value);
    again.value?.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
