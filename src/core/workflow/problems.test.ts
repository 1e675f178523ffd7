import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cyclesIn } from "./cycle.ts";
import type { Graph, GraphEach, Need, TaskStep } from "./graph.ts";
import { graphProblems } from "./problems.ts";
import { reference } from "./template.ts";

const on = (...steps: string[]): Need[] => steps.map((step) => ({ step, on: "succeeded" }));

function step(name: string, more: Partial<TaskStep> = {}): TaskStep {
  return {
    name,
    task: "t",
    queue: "default",
    priority: null,
    input: null,
    each: null,
    needs: [],
    when: null,
    asks: [],
    gate: "async",
    retry: { attempts: 1, backoff: "fixed", delayMs: 0, maxDelayMs: 0, jitter: 0 },
    timeoutMs: null,
    mayFail: false,
    pod: null,
    ...more,
  };
}

function graph(steps: readonly TaskStep[], more: Partial<Graph> = {}): Graph {
  const gates: Graph["gates"] = [{ name: "async", limit: -1 }];
  return { workflow: "w", steps, output: null, failFast: false, timeoutMs: null, gates, ...more };
}

const from = (name: string) => reference({ step: name, path: [] });
const outcomes = (name: string) => reference({ outcomes: name, path: [] });
const item = reference({ item: "value", path: ["id"] });

const each = (more: Partial<GraphEach> = {}): GraphEach => ({
  items: { list: [] },
  concurrency: null,
  onFailure: "run-all",
  ...more,
});

describe("a graph", () => {
  it("that can be walked to its end has no problems", () => {
    const diamond = [
      step("a"),
      step("b", { needs: on("a"), input: { x: from("a") } }),
      step("c", { needs: [{ step: "a", on: "finished" }], when: { is: "true", value: from("a") } }),
      step("d", { needs: on("b", "c") }),
    ];
    expect(graphProblems(graph(diamond, { output: [from("d")] }))).toEqual([]);
  });

  it("may go over lists, and look at how their items ended whether they failed or not", () => {
    const steps = [
      step("a"),
      step("b", {
        needs: on("a"),
        each: each({ items: { zip: [from("a"), [from("a")]] }, concurrency: from("a") }),
        input: [item, reference({ item: "index", path: [] })],
      }),
      step("mend", { needs: [{ step: "b", on: "failed" }], input: outcomes("b") }),
      step("tell", { needs: [{ step: "b", on: "finished" }], input: [outcomes("b"), from("b")] }),
    ];
    expect(graphProblems(graph(steps, { output: [outcomes("b"), from("b")] }))).toEqual([]);
  });

  it("that was stored before steps could go over lists has no problems either", () => {
    const { each: _, ...old } = step("a");
    expect(graphProblems(graph([old as TaskStep]))).toEqual([]);
  });

  it.each<[string, string, Graph]>([
    [
      "steps.b.needs",
      'refers to step "a" without waiting',
      graph([step("a"), step("b", { each: each({ items: { list: from("a") } }) })]),
    ],
    [
      "steps.b.needs",
      'refers to step "a" without waiting',
      graph([step("a"), step("b", { each: each({ concurrency: from("a") }) })]),
    ],
    [
      "steps.b",
      'there is no step "a"',
      graph([step("b", { each: each({ items: { entries: from("a") } }) })]),
    ],
    ["steps.b", 'there is no step "a"', graph([step("b", { each: each({ items: { zip: [from("a")] } }) })])],
    ["output", 'there is no step "x"', graph([step("a")], { output: outcomes("x") })],
    [
      "steps.b",
      'the outcomes of step "a", which is not a step over a list',
      graph([step("a"), step("b", { input: outcomes("a"), needs: on("a") })]),
    ],
    ["output", 'the outcomes of step "a"', graph([step("a")], { output: outcomes("a") })],
    [
      "steps.b",
      "which has none if it failed",
      graph([
        step("a", { each: each() }),
        step("b", { input: [from("a"), outcomes("a")], needs: [{ step: "a", on: "failed" }] }),
      ]),
    ],
    ["steps.a", "outside the items' own input", graph([step("a", { input: item })])],
    ["steps.a", "outside the items' own", graph([step("a", { each: each({ items: { list: [item] } }) })])],
    ["steps.a", "outside the items' own", graph([step("a", { each: each({ concurrency: item }) })])],
    [
      "steps.a",
      "outside the items' own",
      graph([step("a", { each: each(), when: { is: "equal", left: 1, right: item } })]),
    ],
    ["output", "outside the items' own input", graph([step("a", { each: each() })], { output: [item] })],
    ["steps", "the workflow has no steps", graph([])],
    ["steps[1]", '"a" is already the name of steps[0]', graph([step("a"), step("a")])],
    ["steps[0]", '"a/b" cannot be a step\'s name', graph([step("a/b")])],
    ["steps[0]", "must not be empty", graph([step("")])],
    ["steps[0]", '"a b" cannot be', graph([step("a b")])],
    [
      "steps.b.needs",
      'no step "userz" (known: users, b; did you mean "users"?)',
      graph([step("users"), step("b", { needs: on("userz") })]),
    ],
    ["steps.a", 'there is no step "x"', graph([step("a", { input: [from("x")] })])],
    ["steps.a", 'there is no step "x"', graph([step("a", { when: { is: "true", value: from("x") } })])],
    ["output", 'there is no step "x"', graph([step("a")], { output: { y: from("x") } })],
    [
      "steps.b.needs",
      'refers to step "a" without waiting',
      graph([step("a"), step("b", { input: from("a") })]),
    ],
    [
      "steps.b",
      "which has none if it failed",
      graph([step("a"), step("b", { input: from("a"), needs: [{ step: "a", on: "failed" }] })]),
    ],
    [
      "steps.b.needs",
      'step "a" cannot have succeeded and failed',
      graph([step("a"), step("b", { needs: [...on("a"), { step: "a", on: "failed" }] })]),
    ],
    ["steps.a.needs", "these steps wait for each other: a → a", graph([step("a", { needs: on("a") })])],
    [
      "steps.a.needs",
      "a → b → a",
      graph([step("a", { needs: on("b") }), step("b", { needs: on("a") }), step("c", { needs: on("b") })]),
    ],
    ["steps.a.gate", 'the run has no gate "workers"', graph([step("a", { gate: "workers" })])],
    [
      "gates",
      '"async" is listed more than once',
      graph([step("a")], {
        gates: [
          { name: "async", limit: 1 },
          { name: "async", limit: 2 },
        ],
      }),
    ],
    [
      "steps.a.pod",
      "must be set for a step in a pod",
      graph([step("a", { gate: "pods" })], { gates: [{ name: "pods", limit: -1 }] }),
    ],
  ])("has the problem %s … %s", (field, rule, wrong) => {
    expect(graphProblems(wrong)).toEqual([
      { field, rule: expect.stringContaining(rule), cure: expect.stringMatching(/^[A-Z]/) },
    ]);
  });
});

describe("cycles", () => {
  /** For each step, the earlier steps that it needs. So there is no cycle. */
  const forward = fc
    .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 12 })
    .map((rows) =>
      rows.map((row, index) =>
        [...new Set(row.map((each) => each % Math.max(index, 1)))].filter((each) => each < index),
      ),
    );
  const named = (rows: readonly (readonly number[])[]) =>
    rows.map((row, index) => ({ name: `s${index}`, needs: on(...row.map((each) => `s${each}`)) }));

  it("are not found where every step needs only earlier ones, in whatever order they stand", () => {
    fc.assert(
      fc.property(
        forward.chain((rows) => fc.shuffledSubarray(named(rows), { minLength: rows.length })),
        (steps) => {
          expect(cyclesIn(steps)).toEqual([]);
        },
      ),
    );
  });

  it("are found wherever an edge back is added, and are cycles indeed", () => {
    const withBack = fc.tuple(forward, fc.nat(), fc.nat()).map(([rows, a, b]) => {
      const [first, last] = [a % rows.length, b % rows.length].sort((x, y) => x - y) as [number, number];
      // A path from last down to first, and then back.
      return named(
        rows.map((row, index) => [
          ...row,
          ...(index > first && index <= last ? [index - 1] : []),
          ...(index === first ? [last] : []),
        ]),
      );
    });
    fc.assert(
      fc.property(withBack, (steps) => {
        const cycles = cyclesIn(steps);
        expect(cycles.length).toBeGreaterThan(0);
        const needs = new Map(steps.map((each) => [each.name, each.needs.map((need) => need.step)]));
        for (const cycle of cycles)
          for (const [index, name] of cycle.entries())
            expect(needs.get(name)).toContain(cycle[(index + 1) % cycle.length]);
      }),
    );
  });

  it("are told apart where there are two", () => {
    const two = [
      { name: "a", needs: on("b") },
      { name: "b", needs: on("a") },
      { name: "c", needs: on("d") },
      { name: "d", needs: on("e") },
      { name: "e", needs: on("c", "a") },
    ];
    expect(cyclesIn(two)).toEqual([
      ["a", "b"],
      ["c", "d", "e"],
    ]);
  });

  it("are found in a very long line of steps", () => {
    const line = Array.from({ length: 20_000 }, (_, index) => ({
      name: `s${index}`,
      needs: on(`s${index + 1}`),
    }));
    expect(cyclesIn(line)).toEqual([]);
    expect(cyclesIn([...line, { name: "s20000", needs: on("s0") }])).toHaveLength(1);
  });
});

it("the advice for a step's name allows nothing that is refused", () => {
  const cures = ["[0]", "a/b"].flatMap((name) =>
    [...graphProblems(graph([step(name)]))].map(({ cure }) => cure),
  );
  expect(cures).toEqual(cures.map(() => "Use only letters, digits and . _ -"));
  expect(cures).toHaveLength(2);
});
