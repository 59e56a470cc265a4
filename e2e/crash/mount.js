// A simulated disk as a folder of this process: what adapters/file asks of node:fs about paths in it goes to the disk, and
// everything else to the system. Node keeps one binding of its built-in modules for everybody, so the code under test runs
// as it is. Who asks can be one of several simulated processes; one that was killed has no effect any more, and the others
// see that its process id is gone.
import fs from "node:fs";
import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname } from "node:path";

/** @typedef {import("perdure/testing").SimulatedDisk} SimulatedDisk */
/**
 * A simulated process. Once it is dead, whatever it calls throws and does nothing.
 * @typedef {{ pid: number, dead: boolean }} Process
 * @typedef {{ disk: SimulatedDisk, file: number | null, name: string, process: Process }} Open  file null: the folder
 */

/** Nothing real is there. */
export const FOLDER = "/simulated-disk";
const KILLED = "this process was killed";
/** No system gives these. */
const FIRST_FD = 1 << 24;
const FIRST_PID = 5_000_000;
const DEVICE = 4242;
const MODE = 0o100600;

const real = { ...fs };
const realPid = process.pid;
/** What a living process looks like in /proc. */
const ownStat = fs.existsSync("/proc/self/stat") ? fs.readFileSync("/proc/self/stat", "utf8") : "";
/** What never changes while this process lives; every store that is opened reads it. @type {Map<unknown, unknown>} */
const constants = new Map();
/** @type {AsyncLocalStorage<Process>} */
const context = new AsyncLocalStorage();
/** @type {SimulatedDisk | null} */
let mounted = null;
/** @type {Map<number, Open>} */
const open = new Map();
/** @type {Map<number, Process>} */
const processes = new Map();
let lastFd = FIRST_FD;
let lastPid = FIRST_PID;
/** Of whoever calls from outside of any. */
let current = newProcess();

/** @returns {Process} */
export function newProcess() {
  const one = { pid: ++lastPid, dead: false };
  processes.set(one.pid, one);
  return one;
}

/** Runs `work`, and all that it starts, as a process. @template T @param {Process} one @param {() => T} work @returns {T} */
export const runAs = (one, work) => context.run(one, work);

/** From now on the folder is this disk, and all who had a file open on another one are dead. @param {SimulatedDisk} disk */
export function mount(disk) {
  if (mounted === disk) return;
  mounted = disk;
  for (const one of processes.values()) one.dead = true;
  processes.clear();
  open.clear();
  current = newProcess();
}

const whoAsks = () => context.getStore() ?? current;

/** @param {string} code @param {unknown} what */
const systemError = (code, what) => Object.assign(new Error(`${code}: simulated, ${String(what)}`), { code });

/** @returns {SimulatedDisk} */
function mountedDisk() {
  const one = whoAsks();
  if (one.dead) throw new Error(KILLED);
  if (mounted === null) throw systemError("ENOENT", FOLDER);
  return mounted;
}

/** @param {unknown} path */
const isOurs = (path) => typeof path === "string" && (path === FOLDER || dirname(path) === FOLDER);

/** @param {number} fd @returns {Open | undefined} */
function find(fd) {
  const found = open.get(fd);
  if (found?.process.dead === true) throw new Error(KILLED);
  if (found === undefined && fd >= FIRST_FD) throw new Error(KILLED);
  return found;
}

/** @param {number} size @param {number} ino @param {boolean} isBig @param {boolean} [isFolder] */
function stats(size, ino, isBig, isFolder = false) {
  const shown = isBig ? { dev: BigInt(DEVICE), ino: BigInt(ino) } : { dev: DEVICE, ino };
  const mode = isFolder ? 0o40700 : MODE;
  return { ...shown, size, mode, isFile: () => !isFolder, isDirectory: () => isFolder, isSymbolicLink: () => false };
}

/** @param {string} path @param {{ bigint?: boolean, throwIfNoEntry?: boolean }} [how] */
function statOf(path, how = {}) {
  if (path === FOLDER) return stats(0, 1, how.bigint === true, true);
  const file = mountedDisk().find(basename(path));
  if (file !== null) return stats(mountedDisk().size(file), 1000 + file, how.bigint === true);
  if (how.throwIfNoEntry === false) return undefined;
  throw systemError("ENOENT", path);
}

/** The link that /proc has for an open file: where it was opened, or moved to since. @param {Open} one */
function linkOf({ disk: on, file, name }) {
  return on.find(name) === file ? `${FOLDER}/${name}` : `${FOLDER}/${name} (deleted)`;
}

/** @param {unknown} key @param {() => unknown} read */
function constant(key, read) {
  if (!constants.has(key)) constants.set(key, read());
  return constants.get(key);
}

/** @type {{ [name: string]: (...args: any[]) => any }} */
const ours = {
  openSync(path, flags, mode) {
    if (!isOurs(path)) return real.openSync(path, flags, mode);
    const on = mountedDisk();
    const name = basename(path);
    let file = path === FOLDER ? null : on.find(name);
    if (path !== FOLDER && /x/.test(String(flags))) file = on.create(name);
    else if (path !== FOLDER && file === null) throw systemError("ENOENT", path);
    const fd = ++lastFd;
    open.set(fd, { disk: on, file, name, process: whoAsks() });
    return fd;
  },
  closeSync(fd) {
    if (find(fd) === undefined) return real.closeSync(fd);
    open.delete(fd);
  },
  readSync(fd, target, from, length, at) {
    const one = find(fd);
    if (one === undefined) return real.readSync(fd, target, from, length, at);
    return one.disk.read(fileOf(one), target.subarray(from, from + length), at);
  },
  writeSync(fd, bytes, from, length, at) {
    const one = find(fd);
    if (one === undefined) return real.writeSync(fd, bytes, from, length, at);
    return one.disk.write(fileOf(one), bytes.subarray(from, from + length), at);
  },
  fstatSync(fd, how) {
    const one = find(fd);
    if (one === undefined) return real.fstatSync(fd, how);
    return stats(one.disk.size(fileOf(one)), 1000 + fileOf(one), how?.bigint === true);
  },
  ftruncateSync(fd, size) {
    const one = find(fd);
    if (one === undefined) return real.ftruncateSync(fd, size);
    one.disk.truncate(fileOf(one), size);
  },
  fdatasyncSync: (fd) => syncNow(fd, real.fdatasyncSync),
  fsyncSync: (fd) => syncNow(fd, real.fsyncSync),
  fdatasync(fd, /** @type {(error: unknown) => void} */ done) {
    const one = find(fd);
    if (one === undefined) return real.fdatasync(fd, done);
    void one.disk.syncAwaiting(fileOf(one)).then(() => done(null), done);
  },
  linkSync(from, to) {
    if (!isOurs(to)) return real.linkSync(from, to);
    mountedDisk().link(basename(from), basename(to));
  },
  renameSync(from, to) {
    if (!isOurs(to)) return real.renameSync(from, to);
    const on = mountedDisk();
    const moved = on.find(basename(from));
    on.rename(basename(from), basename(to));
    for (const one of open.values()) {
      if (one.disk === on && one.file === moved && one.name === basename(from)) one.name = basename(to);
    }
  },
  unlinkSync(path) {
    if (!isOurs(path)) return real.unlinkSync(path);
    mountedDisk().remove(basename(path));
  },
  rmSync(path, how) {
    if (!isOurs(path)) return real.rmSync(path, how);
    const on = mountedDisk();
    if (on.find(basename(path)) !== null || how?.force !== true) on.remove(basename(path));
  },
  chmodSync: (path, mode) => (isOurs(path) ? undefined : real.chmodSync(path, mode)),
  statSync: (path, how) => (isOurs(path) ? statOf(path, how) : real.statSync(path, how)),
  lstatSync: (path, how) => (isOurs(path) ? statOf(path, how) : real.lstatSync(path, how)),
  existsSync: (path) => (isOurs(path) ? statOf(path, { throwIfNoEntry: false }) !== undefined : real.existsSync(path)),
  readdirSync: (path, how) => (path === FOLDER ? mountedDisk().names : real.readdirSync(path, how)),
  readlinkSync(path, how) {
    const [, fd] = /^\/proc\/self\/fd\/(\d+)$/.exec(path) ?? [];
    const one = fd === undefined ? undefined : find(Number(fd));
    if (one !== undefined) return linkOf(one);
    if (path === "/proc/self/ns/pid") return constant(path, () => real.readlinkSync(path, how));
    return real.readlinkSync(path, how);
  },
  readFileSync(path, how) {
    const [, pid] = /^\/proc\/(\d+)\/stat$/.exec(String(path)) ?? [];
    if (path === "/proc/self/stat") return ownStat;
    if (path === "/proc/sys/kernel/random/boot_id") return constant(path, () => real.readFileSync(path, how));
    if (Number(pid ?? 0) < FIRST_PID) return real.readFileSync(path, how);
    if (processes.get(Number(pid))?.dead === false) return ownStat;
    throw systemError("ENOENT", path);
  },
};
const realpath = Object.assign(
  (/** @type {string} */ path, /** @type {any} */ how) => (isOurs(path) ? path : real.realpathSync(path, how)),
  {
    native: (/** @type {string} */ path, /** @type {any} */ how) =>
      isOurs(path) ? path : real.realpathSync.native(path, how),
  },
);

/** @param {Open} one @returns {number} */
function fileOf({ file }) {
  if (file === null) throw systemError("EISDIR", FOLDER);
  return file;
}

/** @param {number} fd @param {(fd: number) => void} otherwise */
function syncNow(fd, otherwise) {
  const one = find(fd);
  if (one === undefined) return otherwise(fd);
  if (one.file === null) one.disk.syncNames();
  else one.disk.sync(one.file);
}

/** From now on node:fs knows the folder. Returns what ends that. */
export function install() {
  Object.assign(fs, ours, { realpathSync: realpath });
  Object.defineProperty(process, "pid", { configurable: true, enumerable: true, get: () => whoAsks().pid });
  syncBuiltinESMExports();
  return () => {
    for (const name of [...Object.keys(ours), "realpathSync"]) Object.assign(fs, { [name]: Reflect.get(real, name) });
    Object.defineProperty(process, "pid", { configurable: true, enumerable: true, value: realPid });
    syncBuiltinESMExports();
  };
}
