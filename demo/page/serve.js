// Builds the page of `npm run demo` and serves it, all in this process, which ends with whoever started it.
//
//   node demo/page/serve.js [PORT]
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { build, preview } from "vite";

const PARENT_CHECK_MS = 250;
// A signal to npm ends npm and its shell, and is told nobody else.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) exit();
}, PARENT_CHECK_MS);

const configFile = fileURLToPath(new URL("vite.config.ts", import.meta.url));
await build({ configFile, logLevel: "warn" });
const server = await preview({ configFile, ...(argv[2] === undefined ? {} : { preview: { port: Number(argv[2]) } }) });
server.printUrls();
