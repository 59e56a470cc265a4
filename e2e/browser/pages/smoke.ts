// Uses the store as an app would, in whatever context: the answer is what it read.
import { type AsyncAdapter, AsyncSqliteStore, newExecution, type SyncAdapter } from "perdure";

export interface Smoke {
  readonly version: number;
  readonly trace: number;
}

/** Commits, reads, closes. */
export async function smoke(
  where: string | AsyncAdapter | SyncAdapter,
  options: { readonly wasm?: ArrayBuffer } = {},
): Promise<Smoke> {
  const store = await AsyncSqliteStore.create(where, options);
  const exe = newExecution({ definition_id: "smoke" });
  await store.commit(exe, { trace: { step: 1 } });
  const [found, trace] = [await store.load(exe.id), await store.readTrace(exe.id)];
  await store.close();
  return { version: found?.version ?? 0, trace: trace.length };
}
