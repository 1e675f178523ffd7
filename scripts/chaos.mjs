// `npm run chaos`: kills, pauses, cuts and crashes on real processes and databases. It tests the built
// package.

import { ready } from "./ready.mjs";
import { endWithNpm, node } from "./run.mjs";

endWithNpm();
await ready();
process.exitCode = await node(["--import", "tsx", "chaos/run.ts", ...process.argv.slice(2)]);
