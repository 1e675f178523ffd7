import { expect, test } from "vitest";
import type { Effect, Visit } from "../history.ts";
import { checkMarks } from "./marks.ts";
import { effect, outcomeRow, stepTask, tables, task, visit } from "./planted.ts";

const ordered = [{ key: "k", workflow: "solo", marks: ["k/one", "k/two"] }];
const stay = (from: number, epoch: number, id: string, mark: string): Visit =>
  visit(from, from + 5, epoch, { task: id, mark });
const stays = [stay(10, 1, "r-one", "k/one"), stay(20, 2, "r-two", "k/two")];
const effects = [effect(12, "task:r-one", 1), effect(22, "task:r-two", 2)];

const look = (visits: readonly Visit[] = stays, done: readonly Effect[] = effects, told = ordered) =>
  checkMarks({
    visits,
    effects: done,
    ordered: told,
    tables: tables({
      tasks: [{ ...task("r"), key: "k" }, stepTask("r", "one"), stepTask("r", "two")],
      runs: [{ id: "r", workflow: "solo", source: "code", mark: null }],
      outcomes: [outcomeRow("r"), outcomeRow("r-one"), outcomeRow("r-two", { epoch: 2 })],
    }),
  }).violations;

test("content with each step done once, in its order, however often it was lost before", () => {
  expect(look()).toEqual([]);
  expect(look([stay(5, 0.5, "r-one", "k/one"), ...stays])).toEqual([]);
});

test("finds a step that two units ran, and one that ran again after it had succeeded", () => {
  expect(look([...stays, stay(30, 3, "again", "k/one")])).toEqual([
    "k/one was run by 2 units: r-one, again",
    "k/one had succeeded, and ran again as again (epoch 3)",
  ]);
  expect(look([...stays, stay(30, 3, "r-one", "k/one")])).toEqual([
    "k/one had succeeded, and ran again as r-one (epoch 3)",
  ]);
});

test("lets a frozen holder enter late, because its epoch is older", () => {
  expect(look([...stays, stay(30, 0.5, "r-one", "k/one")])).toEqual([]);
});

test("finds an item that was submitted and never done in a run that succeeded", () => {
  const told = [{ ...ordered[0], marks: ["k/one", "k/two", "k/three"] }] as typeof ordered;
  expect(look(stays, effects, told)).toEqual(["run r succeeded, and nobody saw k/three done"]);
  expect(look(stays, effects.slice(1))).toEqual(["run r succeeded, and nobody saw k/one done"]);
});

test("finds a step that began before the one it needs had left", () => {
  expect(look([stay(10, 1, "r-one", "k/one"), stay(14, 2, "r-two", "k/two")])).toEqual([
    "k/two began before k/one, which it needs, had ended",
  ]);
});

test("finds code that nobody submitted", () => {
  expect(look([...stays, stay(30, 3, "x", "k/odd")])).toEqual(["k/odd ran, and nobody submitted it"]);
});
