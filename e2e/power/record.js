// Watches the file system calls of this process and tells them to a Disk. Node keeps one binding of its built-in modules
// for everybody, so the package under test runs unchanged. It can also make a store die: from some call on, nothing it
// does has any effect.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { Disk } from "./disk.js";

/** What a sync throws that fails. */
export const SYNC_FAILED = "EIO: i/o error, a sync that a test lets fail";
/** What every call of a killed store throws. */
export const KILLED = "this store was killed";

/**
 * Records what `work` does in a folder.
 * @template T
 * @param {object} options
 * @param {string} options.folder
 * @param {(disk: Disk) => void} options.before  called before each call that changes what is stored, or makes it last
 * @param {() => boolean} options.syncFails  asked at each sync: shall it fail with EIO?
 * @param {() => boolean} options.dies  asked at each call: is the process killed here?
 * @param {(revive: () => void) => Promise<T>} work  `revive`: what was killed is gone, another process begins
 * @returns {Promise<T>}
 */
export async function recording({ folder, syncFails, dies, ...options }, work) {
  const disk = new Disk();
  let dead = false;
  /** @param {Disk} state */
  const before = (state) => {
    dead ||= dies();
    if (dead) throw new Error(KILLED);
    options.before(state);
  };
  const real = { ...fs };
  /** @type {Map<number, import("./disk.js").File | "folder">} */
  const open = new Map();
  const isOurs = (/** @type {unknown} */ path) => dirname(String(path)) === folder;

  /** @type {{ [name: string]: (...args: any[]) => any }} */
  const watched = {
    openSync(path, flags, mode) {
      const isNew = isOurs(path) && /[wxa]/.test(String(flags)) && !real.existsSync(path);
      const fd = real.openSync(path, flags, mode);
      if (path === folder) open.set(fd, "folder");
      const file = isNew ? disk.create(path) : disk.find(path);
      if (file !== undefined) open.set(fd, file);
      return fd;
    },
    closeSync(fd) {
      open.delete(fd);
      real.closeSync(fd);
    },
    writeSync(fd, bytes, from, length, at) {
      const file = open.get(fd);
      if (file === undefined || file === "folder" || typeof at !== "number")
        return real.writeSync(fd, bytes, from, length, at);
      before(disk);
      const count = real.writeSync(fd, bytes, from, length, at);
      disk.write(file, at, bytes.subarray(from, from + count));
      return count;
    },
    ftruncateSync(fd, size) {
      const file = open.get(fd);
      if (file !== undefined && file !== "folder") {
        before(disk);
        disk.write(file, size, null);
      }
      real.ftruncateSync(fd, size);
    },
    fdatasyncSync: (fd) => finishSync(beginSync(fd)),
    fsyncSync: (fd) => finishSync(beginSync(fd)),
    fdatasync(fd, done) {
      const end = beginSync(fd);
      setImmediate(() => {
        try {
          finishSync(end);
          done(null);
        } catch (error) {
          done(error);
        }
      });
    },
    linkSync(from, to) {
      if (isOurs(to)) before(disk);
      real.linkSync(from, to);
      if (isOurs(to)) disk.link(from, to);
    },
    renameSync(from, to) {
      if (isOurs(to)) before(disk);
      real.renameSync(from, to);
      if (!isOurs(to)) return;
      disk.link(from, to);
      disk.unlink(from);
    },
    unlinkSync(path) {
      if (isOurs(path)) before(disk);
      real.unlinkSync(path);
      if (isOurs(path)) disk.unlink(path);
    },
    rmSync(path, how) {
      if (isOurs(path)) before(disk);
      real.rmSync(path, how);
      if (isOurs(path)) disk.unlink(path);
    },
  };

  /** The locks of the dead are taken away here, since its process, this one, is alive. */
  const revive = () => {
    for (const name of real.readdirSync(folder)) if (name.includes("-lock")) real.rmSync(join(folder, name));
    dead = false;
  };

  /** @param {number} fd @returns {((succeeded: boolean) => void) | null}  null: not one of ours */
  function beginSync(fd) {
    const file = open.get(fd);
    if (file === undefined) return null;
    before(disk);
    if (file === "folder") return (succeeded) => void (succeeded && disk.syncNames());
    return disk.sync(file);
  }

  /** The disk is a model, so nothing needs to wait for the real one. @param {ReturnType<typeof beginSync>} end */
  function finishSync(end) {
    if (end === null) return;
    const fails = syncFails();
    end(!fails);
    if (fails) throw Object.assign(new Error(SYNC_FAILED), { code: "EIO" });
  }

  Object.assign(fs, watched);
  syncBuiltinESMExports();
  try {
    return await work(revive);
  } finally {
    for (const name of Object.keys(watched)) Object.assign(fs, { [name]: Reflect.get(real, name) });
    syncBuiltinESMExports();
  }
}
