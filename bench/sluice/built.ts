// The built package, as users get it. tsx would wrap every function of the source and slow it down.

import { readFileSync } from "node:fs";
import type { StoreClaims } from "../../src/engine/claiming/store-claims.ts";
import type { advanceRuns } from "../../src/engine/runs/advance.ts";
import type * as Source from "../../src/index.ts";

const at = (path: string): string => new URL(`../../dist/${path}`, import.meta.url).href;

export const { connect, defineApp, task, workflow } = (await import(at("index.js"))) as typeof Source;

export const version: string = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
).version;

/** Not public, but the cost of a single pass can only be measured from inside. */
export async function claiming(): Promise<typeof StoreClaims> {
  return ((await import(at("engine/claiming/store-claims.js"))) as { StoreClaims: typeof StoreClaims })
    .StoreClaims;
}

/** The decision of a look at a run. Not public, either. */
export async function advancing(): Promise<typeof advanceRuns> {
  return ((await import(at("engine/runs/advance.js"))) as { advanceRuns: typeof advanceRuns }).advanceRuns;
}
