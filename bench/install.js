// Installs what bench compares with, when that is missing. Imports nothing that is not there before.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const here = import.meta.dirname;

/** A package counts as installed when it has the version that package.json names. */
function isInstalled() {
  const { dependencies } = JSON.parse(readFileSync(`${here}/package.json`, "utf8"));
  return Object.entries(dependencies).every(([name, version]) => {
    const manifest = `${here}/node_modules/${name}/package.json`;
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version;
  });
}

export function installPeers() {
  if (isInstalled()) return;
  console.log("installing what bench compares with (once; one of them compiles for about a minute)");
  const { status } = spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new Error("npm ci failed in bench/");
}
