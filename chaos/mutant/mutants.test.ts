import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { mutate } from "./make.ts";
import { MUTANTS } from "./mutants.ts";

const built = (file: string): string => fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));

test.each(MUTANTS)("$name: what it replaces is in the built code, exactly once", (mutant) => {
  const path = built(mutant.file);
  // `npm test` builds first. Without a build there is nothing to check.
  if (!existsSync(path)) return;
  const code = readFileSync(path, "utf8");
  expect(mutate(mutant, code)).not.toBe(code);
});

test("a piece that is not there, or there twice, is refused", () => {
  const mutant = { name: "a fault", file: "a.js", pieces: [{ find: "x", instead: "y" }] };
  expect(mutate(mutant, "a x")).toBe("a y");
  expect(() => mutate(mutant, "a")).toThrow("is 0 times");
  expect(() => mutate(mutant, "x x")).toThrow("is 2 times");
});
