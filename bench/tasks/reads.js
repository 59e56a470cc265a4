// Reads at 50k Executions and 50k timers, by mitata. In short stretches in turn, so that the peers share what the
// machine does; the median stretch counts.
import Database from "better-sqlite3";
import { measure } from "mitata";
import { copyDatabase, readImage } from "../databases.js";
import * as peer from "../peer-sql.js";
import { memoryAdapter, SqliteStore } from "../perdure.js";
import { median } from "../stats.js";
import { executionId, makeRandom, NOW } from "../workload.js";

/** @typedef {{ plain: string, indexed: string, path: string, rows: number, stretches: number, stretchMs: number }} Options */
/** @typedef {{ p50: number, p99: number, perSecond: number }} Timing milliseconds */
/** @typedef {Record<string, () => unknown>} Reads by operation */

const PAGE = 100;
const STATUS = "SUSPENDED";

/** @param {Options} options @returns {Promise<Record<string, Record<string, Timing>>>} operation → contender → timing */
export async function run({ plain, indexed, path, rows, stretches, stretchMs }) {
  copyDatabase(indexed, path);
  copyDatabase(plain, `${path}-native`);
  const adapter = memoryAdapter();
  const image = readImage(indexed);
  const file = await SqliteStore.create(path);
  const memory = await SqliteStore.create({ ...adapter, load: () => ({ ...adapter.load(), ...image }) });
  const native = new Database(`${path}-native`);
  native.pragma("journal_mode = WAL");
  const contenders = { file: readsOf(file, rows), memory: readsOf(memory, rows), native: nativeReads(native, rows) };

  /** @type {Record<string, Record<string, Timing[]>>} */
  const found = {};
  // The first stretch warms up.
  for (let stretch = -1; stretch < stretches; stretch++) {
    for (const operation of Object.keys(contenders.native)) {
      for (const [name, reads] of Object.entries(contenders)) {
        const timing = await time(/** @type {() => unknown} */ (reads[operation]), stretchMs);
        if (stretch >= 0) ((found[operation] ??= {})[name] ??= []).push(timing);
      }
    }
  }
  file.close();
  memory.close();
  native.close();
  return mapValues(found, (byName) =>
    mapValues(byName, (timings) => ({
      p50: median(timings.map(({ p50 }) => p50)),
      p99: median(timings.map(({ p99 }) => p99)),
      perSecond: median(timings.map(({ perSecond }) => perSecond)),
    })),
  );
}

/** @param {() => unknown} read @param {number} stretchMs @returns {Promise<Timing>} */
async function time(read, stretchMs) {
  // Small batches: the default ones of 4096 calls would take many times the stretch. No collection in between: the
  // garbage of reads is part of their cost.
  const { p50, p99, avg } = await measure(read, {
    min_cpu_time: stretchMs * 1e6,
    min_samples: 3,
    batch_samples: 64,
    gc: false,
  });
  return { p50: p50 / 1e6, p99: p99 / 1e6, perSecond: 1e9 / avg };
}

/** @param {number} rows */
function randomIds(rows) {
  const random = makeRandom(rows);
  const ids = Array.from({ length: 4096 }, () => executionId(Math.floor(random() * rows)));
  let at = 0;
  return () => /** @type {string} */ (ids[at++ % ids.length]);
}

/** @param {import("../../src/store/sqlite-store.ts").SqliteStore} store @param {number} rows @returns {Reads} */
function readsOf(store, rows) {
  const next = randomIds(rows);
  const { nextCursor: cursor } = store.listExecutions({ status: STATUS, limit: rows / 200 });
  return {
    load: () => store.load(next()),
    loadForEvent: () => store.loadForEvent(next(), "none"),
    "status page": () => store.listExecutions({ status: STATUS, limit: PAGE }),
    "status page, deep": () => store.listExecutions({ status: STATUS, limit: PAGE, cursor }),
    dueTimers: () => store.dueTimers(NOW),
  };
}

/** @param {import("better-sqlite3").Database} db @param {number} rows @returns {Reads} */
function nativeReads(db, rows) {
  const next = randomIds(rows);
  const load = db.prepare(peer.LOAD).pluck();
  const loadForEvent = db.prepare(peer.LOAD_FOR_EVENT);
  const list = db.prepare(peer.LIST);
  const listFrom = db.prepare(`${peer.LIST} OFFSET ?`);
  const due = db.prepare(peer.DUE_TIMERS);
  const parse = (/** @type {unknown} */ data) => JSON.parse(/** @type {string} */ (data));
  return {
    load: () => parse(load.get(next())),
    loadForEvent: () => {
      const id = next();
      const row = /** @type {{ data: string, processed: number }} */ (loadForEvent.get(id, id, "none"));
      return [parse(row.data), row.processed === 1];
    },
    "status page": () => list.all(STATUS, PAGE + 1),
    "status page, deep": () => listFrom.all(STATUS, PAGE + 1, rows / 200),
    dueTimers: () => due.all(NOW),
  };
}

/** @template T, U @param {Record<string, T>} record @param {(value: T) => U} change @returns {Record<string, U>} */
function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
