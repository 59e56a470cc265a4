// What the numbers were measured on. A number without its machine means nothing.
import { readFileSync, statfsSync } from "node:fs";
import * as os from "node:os";

/**
 * @param {string} folder where the databases lie
 */
export function describeMachine(folder) {
  return {
    cpu: os.cpus()[0]?.model ?? "unknown",
    cores: os.cpus().length,
    memoryGib: Math.round(os.totalmem() / 2 ** 30),
    os: `${os.type()} ${os.release()} ${os.arch()}`,
    filesystem: filesystemOf(folder),
    node: process.versions.node,
    versions: Object.fromEntries(["better-sqlite3", "sql.js", "mitata"].map((name) => [name, versionOf(name)])),
    loadAverage: os.loadavg(),
  };
}

/** @param {string} name */
function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8")).version;
}

/**
 * The type of the file system that a folder is on: by its name where the mounts can be read, else by its magic number.
 *
 * @param {string} folder
 */
function filesystemOf(folder) {
  try {
    // Each line: … mount point (field 5) … " - " type …
    const mounts = readFileSync("/proc/self/mountinfo", "utf8")
      .trim()
      .split("\n")
      .map((line) => ({ point: line.split(" ")[4] ?? "", type: line.split(" - ")[1]?.split(" ")[0] ?? "" }))
      .filter(({ point }) => folder === point || folder.startsWith(point.endsWith("/") ? point : `${point}/`));
    const longest = mounts.sort((a, b) => b.point.length - a.point.length)[0];
    if (longest !== undefined) return longest.type;
  } catch {
    // Not Linux.
  }
  return `0x${statfsSync(folder).type.toString(16)}`;
}
