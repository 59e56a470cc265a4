// What a log and a base are written to: a file to read and write anywhere, whoever provides it.

/** A file as far as it is only read. */
export interface ReadableFile {
  /** Fills `target` from `at`; returns how many bytes were there. */
  read(target: Uint8Array, at: number): number;
  size(): number;
}

/** A file to read and write anywhere. What it throws are the platform's own errors. */
export interface RandomAccessFile extends ReadableFile {
  /** Writes all of `bytes` at `at`, or throws. */
  write(bytes: Uint8Array, at: number): void;
  /** Makes what was written durable. */
  sync(): void;
  syncAwaiting(): Promise<void>;
  truncate(bytes: number): void;
  close(): void;
}

/** Does something with a file and closes it, whatever happens. */
export function closing<T>(file: RandomAccessFile, work: () => T): T {
  try {
    return work();
  } finally {
    file.close();
  }
}

/** Bytes from `at`, fewer at the end of the file, in memory of their own. */
export function readPart(file: ReadableFile, at: number, bytes: number): Uint8Array {
  const target = new Uint8Array(bytes);
  return target.subarray(0, file.read(target, at));
}
