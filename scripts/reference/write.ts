// Writes every page. A test fails if a page is out of date.

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PAGES } from "./pages.ts";

const folder = new URL("../../docs/reference/", import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(PAGES)) {
  writeFileSync(new URL(name, folder), text);
  console.log(fileURLToPath(new URL(name, folder)));
}
