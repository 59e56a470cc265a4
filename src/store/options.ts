// What a store can be told, wherever it is stored. Types alone, and none that only some platforms have: this is part of
// the public types.

/** What a store can be told, whatever it is stored in. */
export interface StoreOptions {
  /** Trace steps kept for each Execution. Default 200; null, 0 and less keep all. */
  readonly traceMax?: number | null;
  /**
   * The bytes of sql.js's wasm file, for places where `import()` is forbidden. Default: the copy built in. One engine
   * serves all stores of the process, so this counts only for the first one.
   */
  readonly wasm?: ArrayBuffer | Uint8Array;
}
