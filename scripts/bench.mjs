// `npm run bench`: the peers are installed separately, so that nobody else has to install them.

import { join } from "node:path";
import { ready, root, tryInstall } from "./ready.mjs";
import { endWithNpm, node } from "./run.mjs";

endWithNpm();
const args = process.argv.slice(2);
await ready();
// Without its peers, the bench measures Sluice alone and says so in their rows.
const measures = !args.includes("--last");
if (measures && !args.includes("--no-peers") && !(await tryInstall(join(root, "bench"))))
  console.error("The peers could not be installed, see npm's errors above. Their rows stay empty.");
process.exitCode = await node(["--import", "tsx", "bench/run.ts", ...args]);
