import { existsSync, readFileSync } from "node:fs";

/** The version of a peer in bench/node_modules. Undefined if it is not installed. */
export function installed(name: string): string | undefined {
  const manifest = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : undefined;
}
