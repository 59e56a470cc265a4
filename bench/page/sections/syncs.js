// Who really syncs? Counts what the browser's processes ask of the system while a contender commits. Through strace,
// which slows everything down: nothing is timed here. Without strace, which only Linux has, nothing is counted.
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { table } from "../../report.js";
import { ENTRIES } from "../client/contenders/index.js";
import { withSession } from "../session.js";
import { namesFor } from "./commits.js";

/** @typedef {import("../client/contenders/index.js").Durability} Durability */
/** @typedef {Record<string, Record<Durability, number>>} Syncs contender → durability → syncs for each commit */

/** So many that a checkpoint or two are spread over them. */
const COMMITS = 100;
const WARM_UP_COMMITS = 20;
/** Nothing more is written when nothing was for so long. */
const QUIET_MS = 1000;

/** A sync of a file that belongs to a site, in Chromium or Firefox: not of the browser's own. */
const STORAGE_SYNC = /^\d+ +f(data)?sync\(\d+<[^>]*\/(IndexedDB|File System|WebStorage|storage\/default)\//gm;

/** @param {import("./index.js").Tools} tools @returns {Promise<Syncs | null>} null where they cannot be counted */
export async function run(tools) {
  const { folder, print, quick } = tools;
  if (spawnSync("strace", ["-V"]).error !== undefined) {
    print("\nSyncs were not counted: there is no strace");
    return null;
  }
  const image = await tools.images(1);
  const trace = `${folder}/syncs.txt`;
  const traced = `${folder}/traced.sh`;
  writeFileSync(
    traced,
    `#!/bin/sh\nexec strace -f --seccomp-bpf -qq -y -e trace=fsync,fdatasync -o "${trace}" "${tools.executablePath}" "$@"\n`,
  );
  chmodSync(traced, 0o755);
  const count = () => readFileSync(trace, "utf8").match(STORAGE_SYNC)?.length ?? 0;
  const settled = async () => {
    for (let before = -1, now = count(); ; before = now, now = count()) {
      if (before === now) return now;
      await new Promise((resolve) => {
        setTimeout(resolve, QUIET_MS);
      });
    }
  };
  const commits = quick ? COMMITS / 4 : COMMITS;
  /** @type {Syncs} */
  const syncs = {};
  for (const durability of /** @type {const} */ (["strict", "relaxed"])) {
    await withSession(
      tools,
      async ({ ask, observe }) => {
        await observe("observed", durability, image, 10);
        for (const name of namesFor(tools.browser)) {
          const { where = "window", lanes = 1 } = ENTRIES[name] ?? {};
          if (lanes > 1) continue;
          await ask({ do: "open", where, key: name, name, place: `syncs-${name}`, durability, image, seed: 1 });
          await ask({ do: "block", key: name, count: WARM_UP_COMMITS, lanes });
          const before = await settled();
          await ask({ do: "block", key: name, count: commits, lanes });
          const of = (syncs[name] ??= { strict: NaN, relaxed: NaN });
          of[durability] = ((await settled()) - before) / commits;
          await ask({ do: "close", key: name });
        }
      },
      traced,
    );
  }
  print("\nSyncs for each commit, as the system saw them");
  print(
    table(
      ["", "strict", "relaxed"],
      Object.entries(syncs).map(([name, one]) => [
        `${ENTRIES[name]?.label.strict ?? name} | ${ENTRIES[name]?.label.relaxed.split(", ").slice(1).join(", ") ?? ""}`,
        one.strict,
        one.relaxed,
      ]),
    ),
  );
  return syncs;
}
