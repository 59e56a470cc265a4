// `npm run bench`: reads the options, installs the peers when they are missing, then measures. Imports nothing that is
// not there before the install.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

const HELP = `npm run bench -- [options]
  --quick        fewer rounds, under a minute: for a look, not for a claim
  --only NAME    one section; may be given several times
  --json FILE    writes everything that was measured to FILE
  --help         this text`;

const here = import.meta.dirname;

/** A package counts as installed when it has the version that package.json names. */
function isInstalled() {
  const { dependencies } = JSON.parse(readFileSync(`${here}/package.json`, "utf8"));
  return Object.entries(dependencies).every(([name, version]) => {
    const manifest = `${here}/node_modules/${name}/package.json`;
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version;
  });
}

function install() {
  console.log("installing what bench compares with (once; one of them compiles for about a minute)");
  const { status } = spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new Error("npm ci failed in bench/");
}

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  if (!isInstalled()) install();
  const { main } = await import("./main.js");
  // npm runs scripts in the package's folder; a relative name means where the user stands.
  const json = values.json === undefined ? null : resolve(process.env["INIT_CWD"] ?? ".", values.json);
  process.exitCode = await main({ quick: values.quick, only: values.only, json });
}
