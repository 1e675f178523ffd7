import { expect, test } from "vitest";
import { isRunByNpm } from "./npm.ts";

test.each([
  ["sluice worker app.ts", true],
  ["npm run build && sluice worker app.ts --queues=mail", true],
  ["node scripts/start-everything.mjs", false],
  ["sluice worker app.ts & sluice worker app.ts &", false],
  [undefined, false],
])("a process of the script %j ends with npm: %s", (script, does) => {
  expect(isRunByNpm({ npm_lifecycle_script: script })).toBe(does);
});
