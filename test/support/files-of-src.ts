// Every TypeScript file of src, for checks that read it.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceFile } from "./rooms.ts";

const top = fileURLToPath(new URL("../..", import.meta.url));

export function filesOfSrc(): SourceFile[] {
  return readdirSync(join(top, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(top, file).split(sep).join("/"), text: readFileSync(file, "utf8") }));
}
