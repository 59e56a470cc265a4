// Several processes commit to one Execution; then everything of everybody must be there once.
import { SqliteStore } from "perdure";

/**
 * What is wrong with a file after a contest.
 * @param {string} file
 * @param {string[]} names
 * @param {number} commits  of each
 */
export async function auditContest(file, names, commits) {
  const store = await SqliteStore.create(file, { mustExist: true, traceMax: null });
  const exe = store.load("shared");
  const steps = store.readTrace("shared");
  const messages = store.pendingOutbox();
  const wanted = names.flatMap((name) => Array.from({ length: commits }, (_, i) => `${name} ${i + 1}`)).sort();
  const found = {
    version: exe?.version,
    context: exe?.context,
    steps: steps.map(({ eventId }) => /** @type {string} */ (eventId)).sort(),
    versions: steps.every(({ index, version }) => version === index + 1),
    messages: messages.map(({ event }) => event.id).sort(),
    markers: wanted.filter((eventId) => store.isProcessed("shared", eventId)),
  };
  store.close();
  const expected = {
    version: names.length * commits,
    context: Object.fromEntries(names.map((name) => [name, commits])),
    steps: wanted,
    versions: true,
    messages: wanted,
    markers: wanted,
  };
  return { found, expected };
}
