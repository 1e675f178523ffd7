// The checks that run no code: types, the isolation of core, format and lint.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./ready.mjs";
import { node } from "./run.mjs";

const tsc = "node_modules/typescript/bin/tsc";
const biome = "node_modules/@biomejs/biome/bin/biome";

const checks = [
  { name: "types", args: [tsc, "-p", "tsconfig.json"] },
  { name: "types of core, without Node", args: [tsc, "-p", "tsconfig.core.json"], needs: "src/core" },
  { name: "format and lint", args: [biome, "check", "--error-on-warnings", "."] },
];

/** Runs every check, even after a failure, and returns their names by outcome. */
export async function runChecks() {
  const outcome = { passed: [], failed: [] };
  for (const { name, args, needs } of checks) {
    if (needs && !existsSync(join(root, needs))) continue;
    console.log(`Checking ${name}`);
    outcome[(await node(args)) === 0 ? "passed" : "failed"].push(name);
  }
  return outcome;
}
