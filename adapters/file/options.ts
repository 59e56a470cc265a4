// What a file adapter can be told.
export interface FileOptions {
  /** "strict" (default): a commit outlives a power cut. "relaxed": it outlives the process. */
  readonly durability?: "strict" | "relaxed";
  /** Milliseconds to wait for another writer before `StoreBusy`. Default 5000. */
  readonly busyTimeoutMs?: number;
  /** Refuse to start fresh when nothing is there. Default false. */
  readonly mustExist?: boolean;
  /** Frames in the log (one for each page a commit changed) after which it is moved into the file. Default 4000. */
  readonly checkpointFrames?: number;
}
