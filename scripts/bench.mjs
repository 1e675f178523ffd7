// `npm run bench`: the peers are installed separately, so that nobody else has to install them.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { install, ready, root } from "./ready.mjs";
import { endWithNpm, node } from "./run.mjs";

endWithNpm();
await ready();
if (existsSync(join(root, "bench/package-lock.json"))) await install(join(root, "bench"));
process.exitCode = await node(["--import", "tsx", "bench/run.ts", ...process.argv.slice(2)]);
