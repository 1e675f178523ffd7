// Steps that are runs: child workflows, workflows per item, groups, and workflows that call themselves.

import { expect, test } from "vitest";
import type { Reference, WorkflowDefinition } from "../../src/index.ts";
import { greater, task, workflow } from "../../src/index.ts";
import { describeOn } from "../e2e/support/places.ts";
import { statesOf, working } from "../runs/support/world.ts";

const add = task({ id: "add", run: async ({ a, b }: { a: number; b: number }) => a + b });
const echo = task({ id: "echo", run: async (value: unknown) => value as string });
const fail = task({
  id: "fail",
  run: async () => {
    throw new Error("no luck");
  },
});

const twice = workflow({
  id: "twice",
  steps: (s, input: Reference<{ n: number }>) => {
    const once = s.step("once", add, { a: input.n, b: 0 });
    return { n: s.step("again", add, { a: once.output, b: once.output }).output };
  },
});

describeOn(["memory", "sqlite", "postgres", "mariadb"], (place) => {
  test("a workflow called as a step is a run that belongs to its parent", async () => {
    const outer = workflow({
      id: "outer",
      steps: (s, input: Reference<{ n: number }>) => {
        const first = s.run("first", twice, { n: input.n });
        const second = s.run("second", twice, { n: first.output.n });
        return s.step("sum", add, { a: first.output.n, b: second.output.n });
      },
    });
    const sluice = await working(place, { tasks: [add], workflows: [outer, twice] });
    const { id } = await sluice.submit(outer, { n: 3 });
    const run = await sluice.runs.ended(id);
    expect(run).toMatchObject({ state: "succeeded", result: 18 });
    expect(run.steps.map(({ name, kind, task, state }) => [name, kind, task, state])).toEqual([
      ["first", "workflow", "twice", "succeeded"],
      ["second", "workflow", "twice", "succeeded"],
      ["sum", "task", "add", "succeeded"],
    ]);
    const child = await sluice.runs.get(run.steps[1]?.unit as string);
    expect(child).toMatchObject({
      workflow: "twice",
      state: "succeeded",
      input: { n: 6 },
      result: { n: 12 },
      child: { root: id, parent: id, step: "second", depth: 1 },
    });
    expect(child?.steps.map(({ name, state }) => [name, state])).toEqual([
      ["once", "succeeded"],
      ["again", "succeeded"],
    ]);
    expect((await sluice.runs.list()).map((each) => each.id)).toEqual([id]);
    expect(await sluice.list({ limit: 50 })).toHaveLength(5);
  });

  test("a workflow per item: its results are in the order of the items", async () => {
    const all = workflow({
      id: "all",
      steps: (s) => ({
        n: s.each("each", [1, 2, 3], twice, { concurrency: 2, input: (n) => ({ n }) }).output,
      }),
    });
    const sluice = await working(place, { tasks: [add], workflows: [all, twice] });
    const { id } = await sluice.submit(all, undefined);
    const run = await sluice.runs.ended(id);
    expect(run).toMatchObject({ state: "succeeded", result: { n: [{ n: 2 }, { n: 4 }, { n: 6 }] } });
    const items = await sluice.runs.items(id, "each");
    const second = await sluice.runs.get(items[1]?.unit as string);
    expect(second?.child).toEqual({ root: id, parent: id, step: "each", item: 1, depth: 1 });
  });

  test("a group takes what its steps refer to outside, and gives what it returns", async () => {
    const grouped = workflow({
      id: "grouped",
      steps: (s, input: Reference<{ n: number }>) => {
        const one = s.step("one", add, { a: input.n, b: 1 });
        const group = s.group("group", (g) => {
          const left = g.step("left", add, { a: one.output, b: 10 });
          const inner = g.group("inner", (h) => h.step("deep", add, { a: left.output, b: input.n }));
          g.step("late", echo, "x", { after: [one] });
          return { left: left.output, deep: inner.output };
        });
        return { group: group.output, sum: s.step("sum", add, { a: group.output.deep, b: 0 }).output };
      },
    });
    const sluice = await working(place, { tasks: [add, echo], workflows: [grouped] });
    const { id } = await sluice.submit(grouped, { n: 5 });
    const run = await sluice.runs.ended(id);
    expect(run).toMatchObject({ state: "succeeded", result: { group: { left: 16, deep: 21 }, sum: 21 } });
    const group = await sluice.runs.get(run.steps[1]?.unit as string);
    expect(group?.steps.map(({ name, kind, state }) => [name, kind, state])).toEqual([
      ["left", "task", "succeeded"],
      ["inner", "group", "succeeded"],
      ["late", "task", "succeeded"],
    ]);
  });

  test("a workflow may call itself until its condition ends it", async () => {
    const down: WorkflowDefinition<{ n: number }, number[]> = workflow({
      id: "down",
      steps: (s, input: Reference<{ n: number }>) => {
        const less = s.step("less", add, { a: input.n, b: -1 });
        const rest = s.run("again", () => down, { n: less.output }, { when: greater(less.output, 0) });
        return s.step("all", echo, [less.output, rest.output], { after: [rest.finished] })
          .output as unknown as number[];
      },
    });
    const sluice = await working(place, { tasks: [add, echo], workflows: [down] });
    const { id } = await sluice.submit(down, { n: 4 });
    expect(await sluice.runs.ended(id)).toMatchObject({
      state: "succeeded",
      result: [3, [2, [1, [0, null]]]],
    });
  });

  test("a recursion without an end fails, and says how deep it is", async () => {
    const forever: WorkflowDefinition<void, unknown> = workflow({
      id: "forever",
      steps: (s) => {
        s.run("again", () => forever);
      },
    });
    const sluice = await working(place, { tasks: [echo], workflows: [forever] });
    const { id } = await sluice.submit(forever, undefined);
    await sluice.runs.ended(id);
    const [row] = await sluice.runs.list();
    let run = await sluice.runs.get(row?.id as string);
    let depth = 0;
    for (; run?.steps[0]?.unit; depth += 1) run = await sluice.runs.get(run.steps[0].unit);
    expect(depth).toBe(64);
    expect(run?.steps[0]?.error).toMatchObject({ code: "NESTED_TOO_DEEP" });
    expect(run?.steps[0]?.error?.message).toContain("again/again/again");
  });

  test("a child that fails fails its step, and may be allowed to", async () => {
    const bad = workflow({ id: "bad", steps: (s) => s.step("fail", fail) });
    const outer = workflow({
      id: "outer",
      steps: (s) => {
        const may = s.run("may", bad, undefined, { mayFail: true });
        s.step("handle", echo, "handled", { after: [may.failed] });
        s.group("must", (g) => g.step("fail", fail));
      },
    });
    const sluice = await working(place, { tasks: [echo, fail], workflows: [outer, bad] });
    const { id } = await sluice.submit(outer, undefined);
    const run = await sluice.runs.ended(id);
    expect(await statesOf(sluice, id)).toEqual({ may: "failed", handle: "succeeded", must: "failed" });
    expect(run.error).toMatchObject({ code: "STEPS_FAILED", steps: ["must"] });
    expect(run.steps[0]?.error).toMatchObject({ code: "STEPS_FAILED" });
  });
});
