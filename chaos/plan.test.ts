import { expect, test } from "vitest";
import { planOf } from "./plan.ts";

const measure = { kills: 20, pauses: 8, restarts: 2, cuts: 10, terms: 7, cancels: 3 };

test("one seed gives one schedule, another gives another", () => {
  expect(planOf(7, "postgres", measure)).toEqual(planOf(7, "postgres", measure));
  expect(planOf(8, "postgres", measure)).not.toEqual(planOf(7, "postgres", measure));
});

test("more of one fault does not move the others", () => {
  const kills = (cuts: number) =>
    planOf(7, "postgres", { ...measure, cuts }).faults.filter(({ lane }) => lane === "kill");
  expect(kills(12)).toEqual(kills(10));
});

test("as many are planned as were asked for, in the order of their time", () => {
  const { faults, lastsMs } = planOf(7, "mariadb", measure);
  const count = (lane: string): number => faults.filter((fault) => fault.lane === lane).length;
  expect([count("kill"), count("pause"), count("restart"), count("cancel")]).toEqual([20, 8, 2, 3]);
  expect(faults.filter((fault) => fault.lane === "cut" && fault.how !== "all")).toHaveLength(10);
  const told = faults.flatMap((fault) => (fault.lane === "term" ? [fault.burst] : []));
  expect(told.reduce((sum, burst) => sum + burst, 0)).toBe(7);
  expect(faults.map(({ at }) => at)).toEqual(faults.map(({ at }) => at).sort((a, b) => a - b));
  expect(faults.every(({ at }) => at < lastsMs)).toBe(true);
});

test("a file has no wire to cut and no server to end", () => {
  const lanes = new Set(planOf(7, "sqlite", measure).faults.map(({ lane }) => lane));
  expect([...lanes].sort()).toEqual(["cancel", "kill", "pause", "term"]);
});
