// npm runs this after it has installed the clone itself, and when another project installs the clone: as a
// link, from a git URL, or packed. It brings dist up to date, so that the project finds the command `sluice`
// and the types.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, install, root } from "./ready.mjs";

const hasCompiler = () => existsSync(join(root, "node_modules/typescript/bin/tsc"));
const isOwnInstall = resolve(process.env.npm_config_local_prefix ?? root) === resolve(root);

// An install of the clone without dev dependencies has no compiler on purpose. Any other project needs dist.
if (!hasCompiler() && !isOwnInstall) await install(root);
if (hasCompiler() && !(await build())) process.exitCode = 1;
