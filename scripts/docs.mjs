// `npm run docs`: rewrites the pages of docs/reference from the tables in src/core.

import { install, root } from "./ready.mjs";
import { endWithNpm, node } from "./run.mjs";

endWithNpm();
await install(root);
process.exitCode = await node(["--import", "tsx", "scripts/reference/write.ts"]);
