// What no adapter can be faster than: the store as it is, over one write of as many bytes and one sync, and nothing else.
// No frames, no checksums, no lease, no look at what others did, no checkpoint; nobody could open what it leaves. It tells
// how much of a commit is the engine and the disk, and so what is left to be gained.
import { closeSync, fdatasync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { readImage } from "../databases.js";
import { AsyncSqliteStore, memoryAdapter, SqliteStore } from "../perdure.js";

const FRAME_BYTES = 4096 + 24;
/** Space taken ahead and used again and again, as the log's is. */
const FILE_BYTES = 16 * 1024 * 1024;
const bytes = new Uint8Array(FILE_BYTES);

/** @param {string} path */
function openSpace(path) {
  const fd = openSync(path, "w");
  writeSync(fd, bytes);
  fdatasyncSync(fd);
  let at = 0;
  return {
    fd,
    /** @param {import("../../src/port.ts").PageDelta} delta */
    write({ pages }) {
      const length = pages.size * FRAME_BYTES;
      if (at + length > FILE_BYTES) at = 0;
      writeSync(fd, bytes, 0, length, at);
      at += length;
    },
  };
}

/** @param {string} source @param {string} path @returns {Promise<import("./index.js").Contender>} */
export async function openBound(source, path) {
  const { load, append, ...adapter } = memoryAdapter();
  const space = openSpace(path);
  const store = await SqliteStore.create({
    ...adapter,
    load: () => ({ ...load(), ...readImage(source) }),
    append(delta, after) {
      space.write(delta);
      fdatasyncSync(space.fd);
      return append(delta, after);
    },
  });
  return {
    commit: ({ execution, effects }) => store.commit(execution, effects),
    close() {
      store.close();
      closeSync(space.fd);
    },
  };
}

const sync = promisify(fdatasync);

/** @param {string} source @param {string} path @returns {Promise<import("./index.js").Contender>} */
export async function openAsyncBound(source, path) {
  const { load, append } = memoryAdapter();
  const space = openSpace(path);
  const store = await AsyncSqliteStore.create({
    synchronous: false,
    name: "bound",
    place: path,
    supports: { durable: false, shared: false, strict: false },
    load: async () => ({ ...load(), ...readImage(source) }),
    pull: async () => null,
    lock: async () => () => {},
    async append(delta, after) {
      space.write(delta);
      await sync(space.fd);
      return append(delta, after);
    },
    checkpoint: async () => {},
    close: async () => {},
  });
  return {
    commit: ({ execution, effects }) => store.commit(execution, effects),
    async close() {
      await store.close();
      closeSync(space.fd);
    },
  };
}
