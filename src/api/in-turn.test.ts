import { expect, test } from "vitest";
import { eachInTurn } from "./in-turn.ts";

test("between two rows of a list, everything else gets its turn", async () => {
  const seen: string[] = [];
  const other = (): void => {
    seen.push("other");
    if (seen.length < 6) setImmediate(other);
  };
  setImmediate(other);
  const made = await eachInTurn(["a", "b", "c"], (one, index) => {
    seen.push(one);
    return `${one}${index}`;
  });
  expect(made).toEqual(["a0", "b1", "c2"]);
  expect(seen.join(" ")).toMatch(/^a other .*b .*other .*c/);
});
