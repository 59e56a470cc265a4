// Opens a store on a file as the children want it: every step kept, and a log that is folded often.
import { AsyncSqliteStore, SqliteStore } from "perdure";
import { asyncFileAdapter, fileAdapter } from "perdure/file";

/**
 * @param {import("perdure/file").FileOptions & { file: string, kind: "sync" | "async" }} options
 * @returns {Promise<SqliteStore | AsyncSqliteStore>}
 */
export async function openStore({ file, kind, ...options }) {
  const often = { checkpointFrames: 300, ...options };
  return kind === "sync"
    ? SqliteStore.create(fileAdapter(file, often), { traceMax: null })
    : AsyncSqliteStore.create(asyncFileAdapter(file, often), { traceMax: null });
}
