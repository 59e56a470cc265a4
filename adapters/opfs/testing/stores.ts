// Stores on the fake file system, and what tests lay into it and look at.
import * as fs from "node:fs";
import { newExecution } from "../../../src/records/codec.ts";
import type { Execution } from "../../../src/records/structs.ts";
import { SqliteStore } from "../../browser.ts";
import { openOpfs, type OpfsAdapter, type OpfsOptions } from "../index.ts";
import type { FakeOpfs } from "./fake-opfs.ts";

/** A database that the original wrote, or its log. */
export function golden(name: string): Uint8Array {
  return new Uint8Array(fs.readFileSync(new URL(`../../../src/contract/golden/${name}`, import.meta.url)));
}

export function sample(id: string): Execution {
  return newExecution({ id, definition_id: "order" });
}

/** A store on "a.db". */
export async function openStore(
  fake: FakeOpfs,
  options: OpfsOptions = {},
): Promise<{ store: SqliteStore; adapter: OpfsAdapter }> {
  const adapter = await openOpfs("a.db", { directory: fake.directory, busyTimeoutMs: 0, ...options });
  return { store: await SqliteStore.create(adapter), adapter };
}

/** What an opening fails with. */
export function refusalOf(opening: Promise<unknown>): Promise<unknown> {
  return opening.then(() => null).catch((error: unknown) => error);
}

/** Every file with its bytes, in a form that is quick to compare. */
export function contents(fake: FakeOpfs): Record<string, string> {
  const files = Object.entries(fake.files());
  return Object.fromEntries(files.map(([name, bytes]) => [name, Buffer.from(bytes).toString("hex")]));
}
