// `npm run bench:page`: reads the options, installs the peers when they are missing, then measures in a browser. Imports
// nothing that is not there before the install.
import { parseArgs } from "node:util";
import { installPeers } from "../install.js";

const HELP = `npm run bench:page -- [options]
  --browser NAME   chromium (default) or firefox
  --quick          fewer rounds and no 50 MB: for a look, not for a claim; writes nothing unless --write is given
  --only NAME      one section; may be given several times; writes nothing unless --write is given
  --write          writes results/BROWSER.json and .svg all the same
  --help           this text`;

const { values } = parseArgs({
  options: {
    browser: { type: "string", default: "chromium" },
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  installPeers();
  const { main } = await import("./main.js");
  const { browser, quick, only } = values;
  process.exitCode = await main({ browser, quick, only, write: values.write || (!quick && only.length === 0) });
}
