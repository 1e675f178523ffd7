import { runChecks } from "./checks.mjs";
import { install, root } from "./ready.mjs";

await install(root);
const { failed } = await runChecks();
if (failed.length > 0) {
  console.error(`Failed: ${failed.join("; ")}`);
  process.exitCode = 1;
}
