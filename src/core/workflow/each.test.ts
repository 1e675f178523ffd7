import { describe, expect, it } from "vitest";
import type { AnyTask } from "../task/definition.ts";
import { task } from "../task/definition.ts";
import type { AnyWorkflow } from "./definition.ts";
import { workflow } from "./definition.ts";
import type { Outcome } from "./handle.ts";
import { entries, zip } from "./items.ts";
import type { Reference } from "./reference.ts";
import type { PlannedStep, StepPlan, Steps } from "./steps.ts";
import { when } from "./when.ts";

interface User {
  id: string;
}

const listUsers = task({ id: "list-users", run: () => ({ users: [] as User[] }) });
const syncUser = task({ id: "sync-user", run: (user: User) => user.id });
const square = task({ id: "square", run: (n: number) => n * n });
const mail = task({ id: "mail", run: (_: { to: string; place: number; day: string }) => true });
const tick = task({ id: "tick", run: () => 1 });
const sum = task({ id: "sum", run: (ns: readonly number[]) => ns.length });
const report = task({ id: "report", run: (_: readonly Outcome<number>[]) => "told" });

function planOf(steps: (s: Steps, input: never) => unknown): StepPlan {
  return (workflow({ id: "w", steps: steps as never }) as AnyWorkflow).plan;
}

function lastOf(steps: (s: Steps, input: never) => unknown): PlannedStep {
  return planOf(steps).steps.at(-1) as PlannedStep;
}

describe("a step over a list", () => {
  it("becomes data: its items, how many at once, and what a failure means", () => {
    const plan = planOf((s, input: Reference<{ window: number }>) => {
      const { users } = s.step("users", listUsers).output;
      const synced = s.each("sync", users, syncUser, {
        concurrency: input.window,
        onFailure: "stop",
        queue: "mail",
        when: when(users),
      });
      return { results: synced.output, how: synced.outcomes[0].state };
    });
    expect(plan.steps[1]).toEqual({
      name: "sync",
      task: syncUser,
      input: { $from: ["item"] },
      each: {
        items: { list: { $from: ["step", "users", "users"] } },
        concurrency: { $from: ["input", "window"] },
        onFailure: "stop",
      },
      needs: [{ step: "users", on: "succeeded" }],
      when: { is: "true", value: { $from: ["step", "users", "users"] } },
      options: { queue: "mail" },
    });
    expect(plan.output).toEqual({
      results: { $from: ["step", "sync"] },
      how: { $from: ["outcomes", "sync", "0", "state"] },
    });
  });

  it.each<[string, (s: Steps) => unknown, object]>([
    [
      "a list",
      (s) => s.each("a", [1, null, { $from: 2 }], tick),
      { list: [1, null, { $literal: { $from: 2 } }] },
    ],
    ["an empty list", (s) => s.each("a", [], tick), { list: [] }],
    ["lists together", (s) => s.each("a", zip([1], ["x"]), tick), { zip: [[1], ["x"]] }],
    ["an object", (s) => s.each("a", entries({ b: 1 }), tick), { entries: { b: 1 } }],
  ])("takes %s as it is written", (_, steps, items) => {
    expect(lastOf(steps).each?.items).toEqual(items);
  });

  it("waits for all it refers to: in items, window, input and condition", () => {
    const { needs } = lastOf((s) => {
      const [a, b, c, d, e, f] = ["a", "b", "c", "d", "e", "f"].map((name) => s.step(name, tick));
      s.each("each", zip([a?.output], [b?.output]) as never, tick, {
        concurrency: c?.output as never,
        input: () => d?.output as never,
        when: when(e?.output as never),
        after: [f?.failed as never],
      });
    });
    expect(needs.map(({ step, on }) => `${step} ${on}`).sort()).toEqual([
      "a succeeded",
      "b succeeded",
      "c succeeded",
      "d succeeded",
      "e succeeded",
      "f failed",
    ]);
  });

  it("gives each item what its input function makes of it", () => {
    const { input } = lastOf((s, run: Reference<{ day: string }>) => {
      const { users } = s.step("users", listUsers).output;
      s.each("mail", users, mail, {
        input: (user, place) => ({ to: user.id, place, day: run.day }),
      });
    });
    expect(input).toEqual({
      to: { $from: ["item", "id"] },
      place: { $from: ["index"] },
      day: { $from: ["input", "day"] },
    });
  });

  it("may be returned for its output, and its endings be waited for", () => {
    const plan = planOf((s) => {
      const squared = s.each("squared", [1], square);
      s.step("told", report, squared.outcomes, { after: [squared.finished] });
      s.step("after", tick, undefined, { after: [squared] });
      return squared;
    });
    expect(plan.output).toEqual({ $from: ["step", "squared"] });
    expect(plan.steps[1]).toMatchObject({
      input: { $from: ["outcomes", "squared"] },
      needs: [{ step: "squared", on: "finished" }],
    });
    expect(plan.steps[2]?.needs).toEqual([{ step: "squared", on: "succeeded" }]);
  });
});

describe("an item is refused", () => {
  const refused = (
    steps: (s: Steps, item: never) => unknown,
    message: RegExp,
    kept = (item: never) => item,
  ) => {
    const build = () =>
      planOf((s) => {
        let leaked: unknown;
        s.each("sync", [{ id: "1" }] as const, tick, {
          input: (item) => {
            leaked = kept(item as never);
          },
        });
        return steps(s, leaked as never);
      });
    expect(build).toThrow(
      expect.objectContaining({ code: "BAD_WORKFLOW", message: expect.stringMatching(message) }),
    );
  };

  it("outside of the input function of its own step", () => {
    const where = (place: string) =>
      new RegExp(
        `^workflow "w": ${place} refers to item of step "sync", which exists only for that step's own`,
      );
    refused((s, item) => s.step("b", sum, item), where('step "b": input'));
    refused((s, item) => s.step("b", sum, [item]), where('step "b": input\\[0\\]'));
    refused((s, item) => s.step("b", tick, undefined, { when: when(item) }), where('step "b": when'));
    refused((_, item) => ({ item }), where("its result.item"));
    refused((s, item) => s.each("b", item, tick), where('step "b": items'));
    refused((s, item) => s.each("b", zip([1], item), tick), where('step "b": items\\[1\\]'));
    refused((s, item) => s.each("b", [1], tick, { concurrency: item }), where('step "b": concurrency'));
    refused((s, item) => s.each("b", [1], square, { input: () => item }), where('step "b": input'));
  });

  it("in all of its parts", () => {
    refused(
      (s, id) => s.step("b", sum, id),
      /refers to item\.id of step "sync"/,
      (item) => (item as User).id as never,
    );
  });

  it("of a step of the same name in another workflow", () => {
    let leaked: unknown;
    const keep = (s: Steps) =>
      s.each("sync", [1], tick, {
        input: (item) => {
          leaked ??= item;
          return leaked as undefined;
        },
      });
    planOf(keep);
    expect(() => planOf(keep)).toThrow(/step "sync": input refers to item of another workflow/);
  });

  it("to be computed with", () => {
    const computing = (s: Steps) => s.each("sync", [1], square, { input: (n) => (n as never as number) + 1 });
    expect(() => planOf(computing)).toThrow(/^item has no value while .* Pass it on to the task/);
  });
});

describe("a step over a list is refused", () => {
  it("when its items, its window or its input cannot be what it needs", () => {
    const refused = (steps: (s: Steps) => unknown, message: RegExp) =>
      expect(() => planOf(steps)).toThrow(message);
    refused(
      (s) => s.each("b", s.step("a", tick) as never, tick),
      /step "b": items is a step\. Write a\.output/,
    );
    refused((s) => s.each("b", [new Date(0)], tick), /step "b": items\[0\] is a Date/);
    refused((s) => s.each("b", [1], tick, { concurrency: (() => 1) as never }), /concurrency is a function/);
    refused(
      (s) => s.each("b", [1], tick, { input: {} as never }),
      /step "b": input must be a function of the item/,
    );
    refused(
      (s) => s.each("b", [1], tick, { input: (async () => 1) as never }),
      /step "b": input is a Promise/,
    );
    refused(
      (s) => s.each("b", [1], undefined as never as AnyTask),
      /step "b" must call a task, but was given undefined/,
    );
  });

  it("after its workflow was built", () => {
    let leaked: Steps | undefined;
    planOf((s) => {
      leaked = s;
    });
    expect(() => leaked?.each("late", [1], tick)).toThrow(/step "late" was created after steps had returned/);
  });
});
