// What tests find in every context of a page: the package, and the contract suite by number.
import * as perdure from "perdure";
import * as indexeddb from "perdure/indexeddb";
import type { GoldenDatabase, GoldenExpected } from "perdure/contract";
import { commitUntilLost, lostOf, takeOver } from "./given-away.ts";
import { audit, commitForever, commitTimes } from "./loop.ts";
import { GOLDEN, type Listed, scenariosOf } from "./scenarios.ts";
import { TARGETS } from "./targets.ts";

/** What a scenario came to. */
interface Outcome {
  readonly title: string;
  readonly skipped: boolean;
  /** The error, as text; null when it passed. */
  readonly failure: string | null;
}

const bytes = async (name: string): Promise<Uint8Array> => {
  const response = await fetch(`/golden/${name}`);
  if (!response.ok) throw new Error(`no ${name}`);
  return new Uint8Array(await response.arrayBuffer());
};

async function goldenDatabases(): Promise<GoldenDatabase[]> {
  const expected = (await (await fetch("/golden/expected.json")).json()) as GoldenExpected;
  const read = async ({ name, wal }: (typeof GOLDEN)[number]): Promise<GoldenDatabase> => ({
    ...{ name, expected, database: await bytes(name), wal: wal === null ? null : await bytes(wal) },
  });
  return Promise.all(GOLDEN.map(read));
}

const lists = new Map<string, Promise<Listed[]>>();

async function list(target: string): Promise<Listed[]> {
  const row = TARGETS.find(({ name }) => name === target);
  if (row === undefined) throw new Error(`no target ${target}`);
  return scenariosOf(await row.make(), await goldenDatabases());
}

/** An error as a test wants to see it, with its causes. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack?.includes(error.message) ? error.stack : `${error}\n${error.stack}`;
  return error.cause === undefined ? stack : `${stack}\ncaused by ${textOf(error.cause)}`;
}

/** Runs one scenario of one target, here. */
async function scenario(target: string, index: number): Promise<Outcome> {
  if (!lists.has(target)) lists.set(target, list(target));
  const { title, skipped, run } = (await lists.get(target)!)[index]!;
  if (skipped) return { title, skipped, failure: null };
  try {
    await run();
    return { title, skipped, failure: null };
  } catch (error) {
    return { title, skipped, failure: textOf(error) };
  }
}

/** Tells the test process. Resolves when it has heard. */
async function tell(topic: string, what: unknown): Promise<void> {
  const response = await fetch(`/tell?topic=${topic}`, { method: "POST", body: JSON.stringify(what) });
  if (!response.ok) throw new Error(`nobody hears ${topic}`);
}

export const lab = {
  perdure,
  indexeddb,
  scenario,
  audit,
  commitForever,
  commitTimes,
  takeOver,
  commitUntilLost,
  lostOf,
  tell,
  textOf,
};
export type Lab = typeof lab;
