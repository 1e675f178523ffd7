import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Reason } from "../../core/gate/reason.ts";
import { reasonLines } from "./reason-lines.ts";

const full = (gate: string): Reason => ({
  kind: "full",
  gate,
  limit: 1,
  held: 1,
  asked: 1,
  ahead: 0,
  room: 2,
});
const linesOf = (...gates: readonly string[]): string[] =>
  reasonLines(gates.map(full), 0, {}).map(stripVTControlCharacters);
const TOGETHER = "  The commands count only together: run all of them, in this order.";

test("several commands are said to count only together", () => {
  expect(linesOf("pool:gpu", "cluster").at(-1)).toBe(TOGETHER);
});

test("nothing is said of a single command, or of reasons without one", () => {
  expect(linesOf("cluster")).not.toContain(TOGETHER);
  expect(linesOf("mutex:books", "cluster")).not.toContain(TOGETHER);
});
