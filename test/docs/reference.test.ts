// The pages of docs/reference match the tables in src/core.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PAGES } from "../../scripts/reference/pages.ts";

const folder = new URL("../../docs/reference/", import.meta.url);

test.each(Object.entries(PAGES))("%s is up to date; if not: npm run docs", (name, text) => {
  expect(readFileSync(new URL(name, folder), "utf8")).toBe(text);
});

test("every page that says it is made is made", () => {
  const made = readdirSync(folder).filter((name) =>
    readFileSync(new URL(name, folder), "utf8").includes("<!-- Made"),
  );
  expect(made.sort()).toEqual(Object.keys(PAGES).sort());
});
