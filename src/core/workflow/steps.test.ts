import { describe, expect, it } from "vitest";
import type { AnyTask } from "../task/definition.ts";
import { task } from "../task/definition.ts";
import type { AnyWorkflow } from "./definition.ts";
import { workflow } from "./definition.ts";
import type { StepHandle } from "./handle.ts";
import type { StepPlan, Steps } from "./steps.ts";
import { NOTHING } from "./template.ts";
import { all, equal, not, when } from "./when.ts";

const make = task({ id: "make", run: (_: unknown) => ({ list: [1], deep: { ok: true } }) });
const tick = task({ id: "tick", run: () => 1 });

function planOf(steps: (s: Steps, input: never) => unknown): StepPlan {
  return (workflow({ id: "w", steps: steps as never }) as AnyWorkflow).plan;
}

describe("the steps of a workflow", () => {
  it("become data in the order in which they were written", () => {
    const plan = planOf((s, input: { day: string }) => {
      const a = s.step("a", make, { day: input.day, fixed: [1, null] });
      const b = s.step(
        "b",
        make,
        { ok: a.output.deep.ok, all: [a.output.list[0]] },
        { queue: "mail", priority: 3 },
      );
      return { last: b.output };
    });
    expect(plan).toEqual({
      steps: [
        {
          name: "a",
          task: make,
          input: { day: { $from: ["input", "day"] }, fixed: [1, null] },
          each: null,
          needs: [],
          when: null,
          options: {},
        },
        {
          name: "b",
          task: make,
          input: { ok: { $from: ["step", "a", "deep", "ok"] }, all: [{ $from: ["step", "a", "list", "0"] }] },
          each: null,
          needs: [{ step: "a", on: "succeeded" }],
          when: null,
          options: { queue: "mail", priority: 3 },
        },
      ],
      output: { last: { $from: ["step", "b"] } },
    });
  });

  it("may be taken out of what they are given", () => {
    expect(planOf(({ step }) => void step("a", tick)).steps).toHaveLength(1);
  });

  it("wait for what they refer to and come after, each once, as it was said", () => {
    const plan = planOf((s) => {
      const a = s.step("a", make, {});
      const b = s.step("b", make, {});
      const c = s.step("c", make, {});
      const d = s.step("d", make, {});
      s.step("e", make, [a.output, a.output.list, c.output], {
        when: not(equal(b.output.deep.ok, true)),
        after: [c.finished, d.failed, d.failed, a],
      });
    });
    expect(plan.steps[4]?.needs).toEqual([
      { step: "c", on: "finished" },
      { step: "d", on: "failed" },
      { step: "a", on: "succeeded" },
      { step: "b", on: "succeeded" },
    ]);
    expect(plan.steps[4]?.when).toEqual({
      is: "not",
      condition: { is: "equal", left: { $from: ["step", "b", "deep", "ok"] }, right: true },
    });
  });

  it("without an input are given nothing, and a workflow without a result gives null", () => {
    const plan = planOf((s) => void s.step("a", tick));
    expect(plan.steps[0]?.input).toEqual(NOTHING);
    expect(plan.output).toBeNull();
  });

  it("may be returned for their output", () => {
    expect(planOf((s) => s.step("a", tick)).output).toEqual({ $from: ["step", "a"] });
  });

  it("leave out fields that are undefined, and take what looks like a reference as it stands", () => {
    const plan = planOf(
      (s) => void s.step("a", make, { gone: undefined, odd: { $from: ["step", "x"], $literal: [1] } }),
    );
    expect(plan.steps[0]?.input).toEqual({ odd: { $literal: { $from: ["step", "x"], $literal: [1] } } });
  });
});

describe("a reference", () => {
  it.each<[string, (ref: never) => unknown]>([
    ["computed with", (ref) => ref + 1],
    ["written into a text", (ref) => `${ref}`],
    ["spread into a list", (ref) => [...(ref as number[])]],
    ["spread into an object", (ref) => ({ ...(ref as object) })],
    ["turned into JSON", (ref) => JSON.stringify(ref)],
    ["looked through", (ref) => Object.keys(ref)],
    ["asked for a field", (ref) => "a" in (ref as object)],
    ["changed", (ref) => Object.assign(ref as object, { a: 1 })],
  ])("cannot be %s, because it has no value yet", (_, use) => {
    expect(() => planOf((s) => use(s.step("a", make, {}).output.list as never))).toThrow(
      /^a\.output\.list has no value while the workflow is being built/,
    );
  });
});

describe("a workflow is refused", () => {
  const refusal = (steps: (s: Steps) => unknown) => {
    expect(() => planOf(steps)).toThrow(messages);
    // An app may have many workflows.
    expect(() => planOf(steps)).toThrow(/^workflow "w": /);
  };
  let messages: RegExp;

  it("when a step or a value of another one is used", () => {
    let foreign: StepHandle<number> | undefined;
    planOf((s) => {
      foreign = s.step("there", tick);
    });
    messages = /^workflow "w": step "a": input\.x\[0\] refers to there\.output of another workflow/;
    refusal((s) => s.step("a", make, { x: [foreign?.output] }));
    messages = /^workflow "w": step "a": when refers to there\.output of another workflow/;
    refusal((s) => s.step("a", make, {}, { when: when(foreign?.output as never) }));
    messages = /^workflow "w": step "a" comes after step "there" of another workflow/;
    refusal((s) => s.step("a", make, {}, { after: [foreign as never] }));
    messages = /^workflow "w": its result refers to there\.output of another workflow/;
    refusal(() => foreign?.output);
  });

  it("when a step is made after it was built", () => {
    let leaked: Steps | undefined;
    planOf((s) => {
      leaked = s;
    });
    expect(() => leaked?.step("late", tick)).toThrow(/step "late" was created after steps had returned/);
  });

  it("when it waits for its own building", () => {
    messages = /steps must not be async/;
    refusal(async (s) => s.step("a", tick));
  });

  const loop: unknown[] = [];
  loop.push([loop]);
  it.each<[string, unknown]>([
    ["input.x is a function", { x: () => 1 }],
    ["input.x is a Date", { x: new Date(0) }],
    ["input.x is a Map", { x: new Map() }],
    ["input.x is NaN", { x: Number.NaN }],
    ["input.x is a bigint", { x: 1n }],
    ["input[1] is undefined", [1, undefined]],
    ["input[0] is undefined", new Array(1)],
    ["input.x[0][0] contains itself", { x: loop }],
    ["input.x is a Object", { x: when({} as never) }],
  ])("because %s", (what, input) => {
    expect(() => planOf((s) => s.step("a", make, input))).toThrow(`workflow "w": step "a": ${what}`);
  });

  it("when a step stands where its output is meant, however deep", () => {
    messages = /step "b": input\.x is a step\. Write a\.output/;
    refusal((s) => s.step("b", make, { x: s.step("a", tick) }));
  });

  it("when a reference stands in what is taken as it stands", () => {
    messages = /input\.\$from is a reference next to a field called \$from or \$literal/;
    refusal((s) => s.step("b", make, { $from: s.step("a", tick).output }));
  });

  it("when it calls, waits for or decides by something else than it can", () => {
    messages = /step "a" must call a task, but was given undefined/;
    refusal((s) => s.step("a", undefined as never as AnyTask));
    messages = /step "b": after must be a list of steps/;
    refusal((s) => s.step("b", tick, undefined, { after: [s.step("a", tick).output as never] }));
    messages = /step "b": after must be a list/;
    refusal((s) => s.step("b", tick, undefined, { after: s.step("a", tick) as never }));
    messages = /^workflow "w": step "b": when: a condition .* a bare reference: write when/;
    refusal((s) => s.step("b", tick, undefined, { when: s.step("a", tick).output as never }));
    messages = /^workflow "w": step "b": when: a condition must come from when/;
    refusal((s) => s.step("b", tick, undefined, { when: true as never }));
    refusal((s) => s.step("b", tick, undefined, { when: all(not(true as never)) }));
    messages = /^workflow "w", group "g": step "b": when: a condition must come from when/;
    expect(() => planOf((s) => s.group("g", (g) => g.sleep("b", "1s", { when: 1 as never })))).toThrow(
      messages,
    );
  });
});
