// Databases with pages of any size, as other programs make them.
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { FakeOpfs } from "./testing/fake-opfs.ts";
import { openStore, sample } from "./testing/stores.ts";

/** The part of sql.js that is used. */
interface SqlJs {
  Database: new () => { run(sql: string): void; export(): Uint8Array };
}
const start = createRequire(import.meta.url)("sql.js") as () => Promise<SqlJs>;
const SQL = await start();

test.each([512, 1024, 65_536])("L2 a closed database with pages of %d bytes takes commits", async (pageSize) => {
  const db = new SQL.Database();
  db.run(`PRAGMA page_size = ${pageSize}; CREATE TABLE other (x)`);
  const fake = new FakeOpfs();
  fake.put("a.db", db.export());
  const { store } = await openStore(fake);
  store.save(sample("a"));
  expect(store.verify()).toEqual([]);
  const { store: left } = await openStore(fake.afterKill());
  expect(left.load("a")).not.toBeNull();
  expect(left.verify()).toEqual([]);
  left.close();
  store.close();
});
