// The stored contract as a program would write it by hand over any SQLite: what the peers run. The same tables and the
// same statements as in the library, without its indexes.

export const SCHEMA = `
  CREATE TABLE executions (id TEXT PRIMARY KEY, definition_id TEXT NOT NULL, data TEXT NOT NULL, version INTEGER NOT NULL);
  CREATE TABLE outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, target_id TEXT, event TEXT NOT NULL);
  CREATE TABLE processed_events (execution_id TEXT NOT NULL, event_id TEXT NOT NULL, PRIMARY KEY (execution_id, event_id));
  CREATE TABLE timers (execution_id TEXT NOT NULL, path TEXT NOT NULL, fire_at REAL NOT NULL, PRIMARY KEY (execution_id, path));
  CREATE TABLE spawns (seq INTEGER PRIMARY KEY AUTOINCREMENT, parent_id TEXT NOT NULL, child_id TEXT NOT NULL, root_path TEXT NOT NULL, context TEXT NOT NULL);
  CREATE TABLE trace (execution_id TEXT NOT NULL, idx INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (execution_id, idx));
`;

export const TRACE_MAX = 200;

export const INSERT = "INSERT INTO executions (id, definition_id, data, version) VALUES (?, ?, ?, ?)";
export const UPDATE = "UPDATE executions SET data = ?, version = ? WHERE id = ? AND version = ?";
export const EMIT = "INSERT INTO outbox (target_id, event) VALUES (?, ?)";
export const MARK = "INSERT OR IGNORE INTO processed_events (execution_id, event_id) VALUES (?, ?)";
export const SCHEDULE =
  "INSERT INTO timers (execution_id, path, fire_at) VALUES (?, ?, ?) ON CONFLICT(execution_id, path) DO UPDATE SET fire_at = excluded.fire_at";
export const TRACE =
  "INSERT INTO trace (execution_id, idx, entry) SELECT ?, COALESCE((SELECT MAX(idx) FROM trace WHERE execution_id = ?), -1) + 1, ?";
export const TRIM_TRACE =
  "DELETE FROM trace WHERE execution_id = ? AND idx <= (SELECT MAX(idx) FROM trace WHERE execution_id = ?) - ?";

export const LOAD = "SELECT data FROM executions WHERE id = ?";
export const LOAD_FOR_EVENT =
  "SELECT (SELECT data FROM executions WHERE id = ?) AS data, EXISTS(SELECT 1 FROM processed_events WHERE execution_id = ? AND event_id = ?) AS processed";
export const DUE_TIMERS = "SELECT execution_id, path, fire_at FROM timers WHERE fire_at <= ? ORDER BY fire_at";
export const LIST = `SELECT id, definition_id, version, json_extract(data,'$.status') AS status, json_extract(data,'$.outcome') AS outcome,
  json_extract(data,'$.active_path') AS active_path, json_extract(data,'$.parent_id') AS parent_id FROM executions
  WHERE json_extract(data,'$.status') = ? ORDER BY id LIMIT ?`;

/**
 * The seed's commit over prepared statements, as a function of one commit. `run` executes a statement and returns how
 * many rows it changed.
 *
 * @template S
 * @param {(sql: string) => S} prepare
 * @param {(statement: S, values: (string | number | null)[]) => number} run
 * @returns {(commit: import("./workload.js").Commit) => void}
 */
export function prepareCommit(prepare, run) {
  const [update, emit, mark, schedule, trace, trim] = /** @type {[S, S, S, S, S, S]} */ (
    [UPDATE, EMIT, MARK, SCHEDULE, TRACE, TRIM_TRACE].map(prepare)
  );
  return ({ execution, effects }) => {
    const { id, version } = execution;
    execution.version = version + 1;
    if (run(update, [JSON.stringify(execution), version + 1, id, version]) !== 1)
      throw new Error(`stale write to ${id}`);
    for (const { target_id = null, event } of effects.emits ?? []) run(emit, [target_id, JSON.stringify(event)]);
    run(mark, [id, /** @type {string} */ (effects.processedEventId)]);
    for (const timer of effects.timers ?? []) {
      if (timer.op === "schedule") run(schedule, [id, timer.path, timer.fire_at]);
    }
    run(trace, [id, id, JSON.stringify(effects.trace)]);
    run(trim, [id, id, TRACE_MAX]);
  };
}
