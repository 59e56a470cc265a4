// What the build makes of stock sql.js (see the plugin in vite.config.ts).
declare module "virtual:sql.js/glue" {
  /** sql.js's own loader. Every call makes a fresh instance. */
  const initSqlJs: (config: {
    instantiateWasm(
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ): object;
  }) => Promise<import("./engine.ts").SqlJs>;
  export default initSqlJs;
}
declare module "virtual:sql.js/wasm" {
  /** The wasm file, gzipped, as base64. */
  const wasm: string;
  export default wasm;
}
