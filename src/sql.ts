// The stored contract: tables and statements that every store of this family shares (the Python original among them),
// and the indexes that are ours. Only text; nothing here runs.

/** Table → its columns, in order. A table of ours with other columns is somebody else's. */
export const COLUMNS = {
  executions: ["id", "definition_id", "data", "version"],
  outbox: ["seq", "target_id", "event"],
  processed_events: ["execution_id", "event_id"],
  timers: ["execution_id", "path", "fire_at"],
  spawns: ["seq", "parent_id", "child_id", "root_path", "context"],
  trace: ["execution_id", "idx", "entry"],
} as const;

export const SCHEMA: readonly string[] = [
  "CREATE TABLE IF NOT EXISTS executions (id TEXT PRIMARY KEY, definition_id TEXT NOT NULL, data TEXT NOT NULL, version INTEGER NOT NULL)",
  "CREATE TABLE IF NOT EXISTS outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, target_id TEXT, event TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS processed_events (execution_id TEXT NOT NULL, event_id TEXT NOT NULL, PRIMARY KEY (execution_id, event_id))",
  "CREATE TABLE IF NOT EXISTS timers (execution_id TEXT NOT NULL, path TEXT NOT NULL, fire_at REAL NOT NULL, PRIMARY KEY (execution_id, path))",
  "CREATE TABLE IF NOT EXISTS spawns (seq INTEGER PRIMARY KEY AUTOINCREMENT, parent_id TEXT NOT NULL, child_id TEXT NOT NULL, root_path TEXT NOT NULL, context TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS trace (execution_id TEXT NOT NULL, idx INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (execution_id, idx))",
];

/**
 * A field of the stored JSON; null when the row does not hold JSON. Unguarded, one such row would break every listing
 * and every index. `json_valid` with one argument, since older SQLites that open the file have no other.
 */
const field = (name: string): string => `CASE WHEN json_valid(data) THEN json_extract(data,'$.${name}') END`;

/** The status, from the parsed JSON: what a listing shows. Rows without one, or without JSON, count as PENDING. */
const PARSED_STATUS = `COALESCE(${field("status")},'PENDING')`;

/**
 * The same for an index, which is computed twice in every write: parsing would cost a third of a commit. So where the key
 * is found in its usual place the text is compared there: a comma and a bare quote can only start a key, with no brace
 * before it that key is the document's own, and `outcome` follows. Anything else (spaces, other orders, escapes, half a
 * document, a status nobody knows) is parsed.
 */
const KEY = ',"status":"';
const KEY_AT = `NULLIF(instr(data,'${KEY}'),0)`;
const NEXT_KEY = '","outcome":';
const COMPARED = "CANCELLING".length + 4;
const CASES = ["PENDING", "RUNNING", "DONE", "CANCELLED", "SUSPENDED", "CANCELLING", "FAILED"]
  .map((status) => ` WHEN '${(status + NEXT_KEY).slice(0, COMPARED)}' THEN '${status}'`)
  .join("");
export const STATUS: string =
  `COALESCE(CASE WHEN instr(substr(data,2,${KEY_AT}),'{')=0 AND substr(CAST(data AS BLOB),-1)=X'7D'` +
  ` THEN CASE substr(data,${KEY_AT}+${KEY.length},${COMPARED})${CASES} END END,${PARSED_STATUS})`;
/** Not indexed: it stands behind the user's own JSON, so only parsing finds it, in every write. */
export const IS_ROOT: string = `${field("parent_id")} IS NULL`;

/** Ours alone: other programs ignore them. A filter must have an index's expression letter for letter to use it. */
export const INDEXES: readonly string[] = [
  "CREATE INDEX IF NOT EXISTS perdure_timers_due ON timers (fire_at)",
  `CREATE INDEX IF NOT EXISTS perdure_executions_status ON executions (${STATUS}, id)`,
  "CREATE INDEX IF NOT EXISTS perdure_executions_definition ON executions (definition_id, id)",
];

/**
 * `+?` is `?` in sorted statements (a MAX is one): of a bare parameter there SQLite would look at the value to make a plan
 * for it, and so compile the statement anew whenever another one is bound. That costs more than running it.
 */
export const STATEMENTS = {
  update: "UPDATE executions SET data = ?, version = ? WHERE id = ? AND version = ?",
  version: "SELECT version FROM executions WHERE id = ?",
  insert: "INSERT INTO executions (id, definition_id, data, version) VALUES (?, ?, ?, ?)",
  emit: "INSERT INTO outbox (target_id, event) VALUES (?, ?)",
  mark: "INSERT OR IGNORE INTO processed_events (execution_id, event_id) VALUES (?, ?)",
  spawn: "INSERT INTO spawns (parent_id, child_id, root_path, context) VALUES (?, ?, ?, ?)",
  schedule:
    "INSERT INTO timers (execution_id, path, fire_at) VALUES (?, ?, ?) ON CONFLICT(execution_id, path) DO UPDATE SET fire_at = excluded.fire_at",
  cancel: "DELETE FROM timers WHERE execution_id = ? AND path = ?",
  // The family writes the index inline, as `COALESCE((SELECT MAX(idx) …), -1) + 1`. SQLite then builds a temporary table
  // for each of the two statements, since they read what they change: more than half of a commit. In a transaction under
  // the lease asking first comes to the same.
  lastTrace: "SELECT MAX(idx) FROM trace WHERE execution_id = +?",
  trace: "INSERT INTO trace (execution_id, idx, entry) VALUES (?, ?, ?)",
  trimTrace: "DELETE FROM trace WHERE execution_id = ? AND idx <= ?",
  readTrace: "SELECT idx, entry FROM trace WHERE execution_id = +? ORDER BY idx",
  load: "SELECT data FROM executions WHERE id = ?",
  loadForEvent:
    "SELECT (SELECT data FROM executions WHERE id = ?), EXISTS(SELECT 1 FROM processed_events WHERE execution_id = ? AND event_id = ?)",
  isProcessed: "SELECT 1 FROM processed_events WHERE execution_id = ? AND event_id = ?",
  pendingOutbox: "SELECT seq, target_id, event FROM outbox ORDER BY seq LIMIT +?",
  ackOutbox: "DELETE FROM outbox WHERE seq = ?",
  pendingSpawns: "SELECT seq, parent_id, child_id, root_path, context FROM spawns ORDER BY seq LIMIT +?",
  ackSpawn: "DELETE FROM spawns WHERE seq = ?",
  dueTimers: "SELECT execution_id, path, fire_at FROM timers WHERE fire_at <= +? ORDER BY fire_at",
  deleteTimer: "DELETE FROM timers WHERE execution_id = ? AND path = ? AND fire_at = ?",
} as const;

/** What every listing selects: the stored fields in one JSON array. The family extracts each by itself, and parses four times. */
const FIELDS = "json_extract(data,'$.status','$.outcome','$.active_path','$.parent_id')";
const summary = (fields: string): string => `SELECT id, definition_id, version, ${fields} FROM executions`;

/** Fails when one of its rows does not hold JSON. */
export const SUMMARY: string = summary(FIELDS);

/**
 * The same with null for such a row. It looks through each document once more, for what hardly ever is there. 10: text that
 * SQLite reads, or its own binary form, which only a look at all of it tells from other bytes.
 */
export const GUARDED_SUMMARY: string = summary(`CASE WHEN json_valid(data,10) THEN ${FIELDS} END`);
