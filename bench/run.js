// `npm run bench`: reads the options, installs the peers when they are missing, then measures. Imports nothing that is
// not there before the install.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { installPeers } from "./install.js";

const HELP = `npm run bench -- [options]
  --quick        fewer rounds, under a minute: for a look, not for a claim
  --only NAME    one section; may be given several times
  --json FILE    writes everything that was measured to FILE
  --help         this text`;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  installPeers();
  const { main } = await import("./main.js");
  // npm runs scripts in the package's folder; a relative name means where the user stands.
  const json = values.json === undefined ? null : resolve(process.env["INIT_CWD"] ?? ".", values.json);
  process.exitCode = await main({ quick: values.quick, only: values.only, json });
}
