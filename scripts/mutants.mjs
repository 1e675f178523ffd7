// `npm run mutants`: plants known defects in a copy of the sources, one at a time, and checks that a test
// notices.

import { install, root } from "./ready.mjs";
import { endWithNpm, node } from "./run.mjs";

endWithNpm();
await install(root);
process.exitCode = await node(["--import", "tsx", "mutants/run.ts", ...process.argv.slice(2)]);
