// Does the commit grow with the database? 1 MB and 50 MB in turn, so that one run's moods hit both.
import { table } from "../../report.js";
import { contest, timesAsLong } from "../contest.js";
import { withSession } from "../session.js";

/** @param {import("./index.js").Tools} tools @returns {Promise<Record<string, number | null>>} as long at 50 MB as at 1 MB */
export async function run(tools) {
  const { quick, print } = tools;
  const [small, large] = [await tools.images(1), await tools.images(50)];
  const pace = quick ? { rounds: 5, blockMs: 60, warmUpMs: 300 } : { rounds: 31, blockMs: 120, warmUpMs: 1500 };
  const names = ["perdure", "perdure-opfs"];
  const entrants = names.flatMap((name) => [
    { key: `${name} at 1 MB`, name, image: small },
    { key: `${name} at 50 MB`, name, image: large },
  ]);
  const found = await withSession(tools, async ({ ask }) => contest(ask, entrants, "strict", pace));
  print("\nGrowth: strict commits at 1 MB and at 50 MB in turn (ms)");
  print(
    table(
      ["", "p50", "p95", "max"],
      Object.entries(found).map(([key, one]) => [key, one.p50, one.p95, one.max]),
    ),
  );
  return Object.fromEntries(
    names.map((name) => [name, timesAsLong(found[`${name} at 50 MB`], found[`${name} at 1 MB`])]),
  );
}
