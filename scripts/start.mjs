// `npm start`: the example app on the embedded store, from a bare clone.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ready, root } from "./ready.mjs";
import { endWithNpm } from "./run.mjs";

endWithNpm();
await ready();

const cli = join(root, "dist/surface/cli/main.js");
if (!existsSync(cli)) {
  console.error("src/surface/cli/main.ts is missing, so there is nothing to start.");
  process.exit(1);
}

// The command line runs inside this process. A child would need every signal forwarded, and Ctrl-C would
// reach it twice: once from the terminal and once from us.
process.setSourceMapsEnabled(true);
process.argv = [process.execPath, cli, "dev", join(root, "examples/shop/app.ts"), ...process.argv.slice(2)];
await import(pathToFileURL(cli).href);
