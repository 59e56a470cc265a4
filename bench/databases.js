// Databases to start from: built once a run with better-sqlite3, copied for each contender.
import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, readFileSync, statSync } from "node:fs";
import * as peer from "./peer-sql.js";
import { executionId, fireAtOf, makeExecution, NOW, TIMER_PATH } from "./workload.js";

/** What the port hands images over in (CHUNK_BYTES of src/port.ts). */
const CHUNK_BYTES = 1024 * 1024;

/**
 * A checkpointed WAL database as any program of the family leaves it: `rows` Executions that each handled one event and
 * wait for one timer.
 *
 * @param {string} path
 * @param {number} rows
 */
export async function buildPlain(path, rows) {
  const { default: Database } = await import("better-sqlite3");
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = OFF");
  db.exec(peer.SCHEMA);
  const [insert, mark, schedule, trace] = [peer.INSERT, peer.MARK, peer.SCHEDULE, peer.TRACE].map((sql) =>
    db.prepare(sql),
  );
  db.transaction(() => {
    for (let i = 0; i < rows; i++) {
      const id = executionId(i);
      insert?.run(id, "order", JSON.stringify(makeExecution(i, 1, id)), 1);
      mark?.run(id, executionId(i + rows));
      schedule?.run(id, TIMER_PATH, fireAtOf(i));
      trace?.run(
        id,
        id,
        JSON.stringify({
          event: executionId(i + rows),
          kind: "order.placed",
          from: null,
          to: "order/payment",
          at: NOW,
        }),
      );
    }
  })();
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}

/**
 * The same, after the library opened it once and added its indexes.
 *
 * @param {string} plain
 * @param {string} path
 */
export async function buildIndexed(plain, path) {
  const { SqliteStore } = await import("./perdure.js");
  copyDatabase(plain, path);
  const store = await SqliteStore.create(path);
  store.close();
}

/** Copies a closed database, durably: writing it out later would disturb what is measured then. @param {string} from @param {string} to */
export function copyDatabase(from, to) {
  for (const suffix of ["", "-wal"]) {
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
  }
  syncDatabase(to);
}

/** @param {string} path */
export function syncDatabase(path) {
  for (const suffix of ["", "-wal"]) {
    if (!existsSync(path + suffix)) continue;
    const fd = openSync(path + suffix, "r+");
    fsyncSync(fd);
    closeSync(fd);
  }
}

/** @param {string} path */
export function databaseBytes(path) {
  return statSync(path).size;
}

/** The header of a database for an engine that has no WAL. @template {Uint8Array} T @param {T} bytes @returns {T} */
export function markAsRollback(bytes) {
  bytes.fill(1, 18, 20);
  return bytes;
}

/** A checkpointed database as the port hands it over. @param {string} path */
export function readImage(path) {
  const bytes = markAsRollback(readFileSync(path));
  const pageSize = bytes.readUInt16BE(16);
  const chunks = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const chunk = new Uint8Array(CHUNK_BYTES);
    chunk.set(bytes.subarray(at, at + CHUNK_BYTES));
    chunks.push(chunk);
  }
  return { pageSize, pageCount: bytes.length / pageSize, chunks };
}
