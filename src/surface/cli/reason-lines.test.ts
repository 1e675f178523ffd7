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

const rows = (reasons: readonly Reason[]): string[] =>
  reasonLines(reasons, 0, {}).map((line) => stripVTControlCharacters(line).trim());

test("a reason without a command among others says what to wait for, at its place in the order", () => {
  const shown = rows([full("pool:gpu"), full("mutex:books"), full("pool:db")]);
  expect(shown.slice(1)).toEqual([
    "npx sluice limits set pool:gpu 2",
    'mutex "books" is full: 1 of 1 slots held',
    'wait until mutex "books" is free',
    'pool "db" is full: 1 of 1 slots held',
    "npx sluice limits set pool:db 2",
    "The commands and waits count only together: go through them in this order.",
  ]);
});

test("a single reason, or reasons without any command, say no more than themselves", () => {
  expect(rows([full("mutex:books")])).toHaveLength(1);
  expect(rows([full("mutex:books"), full("mutex:desk")])).toHaveLength(2);
});

test("if no order is sure, it is said, with what makes it sure", () => {
  const contested = (pause: { pause?: string }): Reason => ({ ...full("pool:gpu"), contested: pause });
  expect(rows([contested({ pause: "queue:q" }), full("pool:db")]).slice(-3)).toEqual([
    "The commands count only together, and in any order, other work may take a slot in between. To prevent that, begin and end with these two:",
    "npx sluice queues pause q",
    "npx sluice queues resume q",
  ]);
  expect(rows([contested({}), full("pool:db")]).at(-1)).toBe(
    "The commands count only together, and in any order, other work may take a slot in between. Run the commands at the same moment.",
  );
});
