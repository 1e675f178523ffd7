import { build, install, root } from "./ready.mjs";

await install(root);
if (!(await build({ force: true }))) process.exitCode = 1;
