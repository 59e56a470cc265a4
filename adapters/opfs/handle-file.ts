// A random-access file over a synchronous access handle.
import { domName } from "../../src/errors.ts";
import type { RandomAccessFile } from "../wal/random-access-file.ts";
import type { SyncAccessHandle } from "./platform.ts";

export function fileOver(handle: SyncAccessHandle): RandomAccessFile {
  return {
    read(target, at) {
      let done = 0;
      while (done < target.length) {
        const count = handle.read(done === 0 ? target : target.subarray(done), { at: at + done });
        if (count === 0) break;
        done += count;
      }
      return done;
    },
    write(bytes, at) {
      let done = 0;
      while (done < bytes.length) {
        const count = handle.write(done === 0 ? bytes : bytes.subarray(done), { at: at + done });
        // Going on would go on for ever.
        if (count === 0) throw new Error("the file took none of the bytes");
        done += count;
      }
    },
    sync: () => handle.flush(),
    // There is no other way to flush a handle; an asynchronous store blocks as long as a synchronous one.
    syncAwaiting: async () => handle.flush(),
    size: () => handle.getSize(),
    truncate: (bytes) => handle.truncate(bytes),
    close: () => handle.close(),
  };
}

/** Whether the browser closed it behind us. */
export function isClosed(file: RandomAccessFile): boolean {
  try {
    file.size();
    return false;
  } catch (error) {
    return domName(error) === "InvalidStateError";
  }
}
