// What the children commit, and how to tell from a file that each commit is there once and whole. Every commit of an
// Execution leaves one row in each table; so counting shows what is missing, doubled or half.

/**
 * Commit number `version + 1` of an Execution.
 * @param {import("perdure").Execution} exe  its context is changed
 * @param {number} payloadBytes
 * @returns {import("perdure").Effects}
 */
export function nextCommit(exe, payloadBytes) {
  const n = exe.version + 1;
  // Not to be compressed away, and different each time.
  exe.context = { n, payload: `${n}.`.repeat(payloadBytes / 4).slice(0, payloadBytes) };
  return {
    emits: [{ target_id: exe.id, event: { id: `${exe.id}/${n}`, kind: "step", data: { n } } }],
    processedEventId: `event ${n}`,
    timers: [{ op: "schedule", path: "tick", fire_at: n }],
    spawns: [{ child_id: `${exe.id}:${n}`, context: { n } }],
    trace: { n },
  };
}

/** One row for each Execution: every column must be its version, or the sum of the numbers up to it. */
export const BOOKS_SQL = `
SELECT e.id, e.version,
  json_extract(e.data, '$.version') AS blob, json_extract(e.data, '$.context.n') AS context,
  (SELECT count(*) FROM trace t WHERE t.execution_id = e.id) AS traces,
  (SELECT total(json_extract(entry, '$.n')) FROM trace t WHERE t.execution_id = e.id) AS traceSum,
  (SELECT count(*) FROM processed_events p WHERE p.execution_id = e.id) AS markers,
  (SELECT count(DISTINCT json_extract(event, '$.data.n')) FROM outbox o WHERE o.target_id = e.id) AS messages,
  (SELECT total(json_extract(event, '$.data.n')) FROM outbox o WHERE o.target_id = e.id) AS messageSum,
  (SELECT count(*) FROM spawns s WHERE s.parent_id = e.id) AS spawns,
  (SELECT fire_at FROM timers x WHERE x.execution_id = e.id) AS timer
FROM executions e`;

/**
 * What is wrong with the rows of `BOOKS_SQL`.
 * @param {{ [column: string]: unknown }[]} rows
 * @param {Map<string, number>} acknowledged  Execution id → its last acknowledged version
 * @param {number} mayBeMore  commits that may be there though nobody was told
 * @returns {string[]}
 */
export function auditBooks(rows, acknowledged, mayBeMore) {
  const problems = [];
  let more = 0;
  for (const row of rows) {
    const { id, version } = /** @type {{ id: string, version: number }} */ (row);
    const sum = (version * (version + 1)) / 2;
    for (const column of ["blob", "context", "traces", "markers", "messages", "spawns", "timer"]) {
      if (row[column] !== version) problems.push(`${id}: ${column} is ${String(row[column])} at version ${version}`);
    }
    for (const column of ["traceSum", "messageSum"]) {
      if (row[column] !== sum)
        problems.push(`${id}: ${column} is ${String(row[column])}, not ${sum}, at version ${version}`);
    }
    more += version - (acknowledged.get(id) ?? 0);
  }
  for (const [id, version] of acknowledged) {
    const found = Number(rows.find((row) => row["id"] === id)?.["version"] ?? 0);
    if (found < version) problems.push(`${id}: acknowledged up to version ${version}, found ${found}`);
  }
  if (more > mayBeMore) problems.push(`${more} commits are there that were never acknowledged, ${mayBeMore} may be`);
  return problems;
}
