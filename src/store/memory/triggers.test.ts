import { expect, test } from "vitest";
import { Tables } from "./tables.ts";
import { lastSuccesses } from "./triggers.ts";

test("the last success of some workflows is told by name, and of others nothing", () => {
  const tables = new Tables();
  const all = ["b", "a", "c"].map((workflow, index) => ({ workflow, run: `r${index}`, at: 100 + index }));
  tables.transact(() => {
    for (const success of all) tables.success.insert(success);
  });
  expect(lastSuccesses(tables, ["c", "a", "nobody"])).toEqual([all[1], all[2]]);
});
