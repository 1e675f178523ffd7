import { describe, expect, it } from "vitest";
import { ConfigError } from "../error.ts";
import { task } from "../task/definition.ts";
import type { AnyWorkflow, WorkflowOptions } from "../workflow/definition.ts";
import { workflow } from "../workflow/definition.ts";
import { inProcess, kubernetes, parallel } from "../workflow/executor.ts";
import { entries, zip } from "../workflow/items.ts";
import type { StepOptions } from "../workflow/step-options.ts";
import type { Steps } from "../workflow/steps.ts";
import { checkApp } from "./check.ts";
import type { AppDefinition } from "./definition.ts";

const greet = task({ id: "greet", run: () => "hello" });
const crunch = task({ id: "crunch", cpu: true, run: () => 1 });
const byInput = task({
  id: "by-input",
  pools: (name: string) => ({ gpu: name.length }),
  run: (name: string) => name,
});

function problemsIn(definition: object): ConfigError["problems"] {
  try {
    checkApp({ tasks: [greet, crunch, byInput], ...definition } as AppDefinition);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const pools = { gpu: { limit: 2 }, tenant: { limit: 1, perValue: true } };
const made = (more: object = {}, steps: (s: Steps) => unknown = (s) => s.step("a", greet)): AnyWorkflow =>
  workflow({ id: "w", steps, ...more } as WorkflowOptions & { steps: never });
const wrong = (more: object) => ({ workflows: [made(more)], pools });
const wrongStep = (options: object, more: object = {}) => ({
  workflows: [made(more, (s) => s.step("a", greet, undefined, options as StepOptions))],
  pools,
});
const steps = (build: (s: Steps) => unknown, more: object = {}) => ({
  workflows: [made(more, build)],
  pools,
});
const pod = (more: object) => wrong({ executor: kubernetes({ image: "i", ...more }) });
const runs = (more: object) => ({ runs: more });
const tag = (...tags: object[]) => runs({ tags });

describe("an app with workflows", () => {
  it("keeps them by id, and fills in what was left out", () => {
    const nightly = made({ id: "nightly" });
    const app = checkApp({ tasks: [greet], workflows: [nightly] });
    expect(app.workflows.get("nightly")).toBe(nightly);
    expect(app.executor).toEqual(parallel());
    expect(app.runs).toEqual({
      declared: false,
      max: 10,
      tags: [],
      startTimeoutMs: 180_000,
      onStartTimeout: "requeue",
      whileWaiting: "hold",
    });
  });

  it("keeps what it says of runs", () => {
    const app = checkApp({
      tasks: [],
      executor: inProcess(),
      runs: {
        max: -1,
        tags: [
          { key: "env", limit: 5 },
          { key: "env", value: "prod", limit: 2 },
          { key: "tenant", perValue: true, limit: 1 },
        ],
        startTimeout: "1m",
        onStartTimeout: "fail",
      },
    });
    expect(app.executor).toEqual({ kind: "in-process" });
    expect(app.runs).toEqual({
      declared: true,
      max: -1,
      tags: [
        { key: "env", value: null, perValue: false, limit: 5 },
        { key: "env", value: "prod", perValue: false, limit: 2 },
        { key: "tenant", value: null, perValue: true, limit: 1 },
      ],
      startTimeoutMs: 60_000,
      onStartTimeout: "fail",
      whileWaiting: "hold",
    });
    for (const part of [app.runs, app.runs.tags, app.runs.tags[0]]) expect(Object.isFrozen(part)).toBe(true);
  });

  it("may hold with the run what its steps ask for beside it, as long as both fit", () => {
    expect(
      problemsIn(wrongStep({ pools: { gpu: 1 }, mutexes: ["b"] }, { pools: { gpu: 1 }, mutexes: ["a"] })),
    ).toEqual([]);
  });

  it("may choose different executors for its steps, as long as each gate has one limit", () => {
    const mixed = steps((s) => {
      s.step("a", greet, undefined, { executor: parallel({ maxWorkers: 2 }) });
      s.step("b", crunch, undefined, { executor: parallel({ maxWorkers: 3 }) });
      s.step("c", crunch, undefined, { executor: inProcess() });
    });
    expect(problemsIn(mixed)).toEqual([]);
  });

  it("says everything that is wrong at once", () => {
    const bad = made({ id: "w", tags: { "a=b": "1" }, timeout: "5" }, (s) => {
      s.step("x", greet, undefined, { queue: "mail" });
      s.step("x", crunch, undefined, { prioriy: 3 } as never);
    });
    expect(problemsIn({ workflows: [bad], runs: { max: 0 } }).map(({ field }) => field)).toEqual([
      "runs.max",
      "workflows.w.tags.a=b",
      "workflows.w.timeout",
      "workflows.w.steps[1]",
      "workflows.w.steps.x.queue",
      "workflows.w.steps.x.prioriy",
    ]);
  });
});

describe("a wrong workflow is refused, with exactly this problem:", () => {
  it.each<[string, string, object]>([
    ["workflows", "must be a list", { workflows: made() }],
    ["workflows[0]", "must be a workflow, but is undefined", { workflows: [undefined] }],
    ["workflows[0]", "must be a workflow, but is an object", { workflows: [{ id: "w", steps: () => {} }] }],
    ["workflows[0].id", "must not be empty", wrong({ id: "" })],
    ["workflows[0].id", "cannot be a workflow's id", wrong({ id: "a=b" })],
    ["workflows[1].id", '"w" is already the id of workflows[0]', { workflows: [made(), made()] }],
    ["workflows[0].id", '"greet" is already the id of tasks[0]', wrong({ id: "greet" })],
    ["workflows.w.steps", "must be a function", { workflows: [made({ steps: [] })] }],
    ["workflows.w.steps", "the workflow has no steps", steps(() => {})],
    ["workflows.w.failfast", "not a known field", wrong({ failfast: true })],
    ["workflows.w.input", "must be a Standard Schema", wrong({ input: { type: "string" } })],
    ["workflows.w.tags", "must be an object", wrong({ tags: ["prod"] })],
    ["workflows.w.tags.env", "1 cannot be a tag's value", wrong({ tags: { env: 1 } })],
    ["workflows.w.tags.env", "value must not be empty", wrong({ tags: { env: "" } })],
    ["workflows.w.tags.env", '"*" cannot be a tag\'s value', wrong({ tags: { env: "*" } })],
    ["workflows.w.tags.", "key must not be blank", wrong({ tags: { "": "a" } })],
    ["workflows.w.tags.\u00a0", "key must not be blank", wrong({ tags: { "\u00a0": "a" } })],
    ["workflows.w.tags.a=b", "cannot be a tag's key", wrong({ tags: { "a=b": "c" } })],
    [
      "workflows.w.tags.a",
      "is too long: it has 192 bytes, and 191 are allowed",
      wrong({ tags: { a: "b".repeat(186) } }),
    ],
    ["workflows.w.priority", "but is 0.5", wrong({ priority: 0.5 })],
    ["workflows.w.timeout", "has no unit", wrong({ timeout: 30 })],
    ["workflows.w.failFast", "true or false", wrong({ failFast: "yes" })],
    ["workflows.w.executor", "must be an executor", wrong({ executor: "parallel" })],
    ["workflows.w.mutexes", "must be a list", wrong({ mutexes: "nightly" })],
    ["workflows.w.mutexes[0]", "cannot be a mutex's name", wrong({ mutexes: ["a=b"] })],
    ["workflows.w.mutexes[1]", '"a" is named twice', wrong({ mutexes: ["a", "a"] })],
    ["workflows.w.pools.gpu", "limit is 2, so this run can never start", wrong({ pools: { gpu: 3 } })],
    ["workflows.w.pools.gpus", 'did you mean "gpu"?', wrong({ pools: { gpus: 1 } })],
    ["workflows.w.pools", "must not be a function", wrong({ pools: () => ({}) })],
  ])("%s … %s", exactly);
});

describe("a wrong step is refused, with exactly this problem:", () => {
  it.each<[string, string, object]>([
    ["workflows.w.steps[0]", '"a/b" cannot be a step\'s name', steps((s) => s.step("a/b", greet))],
    [
      "workflows.w.steps[1]",
      '"a" is already the name of steps[0]',
      steps((s) => [s.step("a", greet), s.step("a", greet)].length),
    ],
    [
      "workflows.w.steps.a.task",
      'no task "gret" in this app (known: greet, crunch, by-input; did you mean "greet"?)',
      steps((s) => s.step("a", task({ id: "gret", run: () => 1 }))),
    ],
    [
      "workflows.w.steps.b.needs",
      'step "a" cannot have succeeded and failed',
      steps((s) => {
        const a = s.step("a", greet);
        s.step("b", greet, undefined, { after: [a, a.failed] });
      }),
    ],
    ["workflows.w.steps.a.pools", "must be set on the step", steps((s) => s.step("a", byInput, "x"))],
    ["workflows.w.steps.a.pools", "must be set on the step", wrongStep({ pools: () => ({}) })],
    [
      "workflows.w.steps.a.pools.gpu",
      "limit is 2, so this step can never start",
      wrongStep({ pools: { gpu: 3 } }),
    ],
    ["workflows.w.steps.a.queue", 'there is no queue "mail"', wrongStep({ queue: "mail" })],
    ["workflows.w.steps.a.priority", "but is 0.5", wrongStep({ priority: 0.5 })],
    ["workflows.w.steps.a.retry", "must be an object", wrongStep({ retry: 3 })],
    ["workflows.w.steps.a.retry.attempts", "but is 0", wrongStep({ retry: { attempts: 0 } })],
    ["workflows.w.steps.a.retry.when", "must be set on the task", wrongStep({ retry: { when: () => true } })],
    ["workflows.w.steps.a.timeout", "longer than 0ms", wrongStep({ timeout: "0s" })],
    ["workflows.w.steps.a.mayFail", "true or false", wrongStep({ mayFail: 1 })],
    ["workflows.w.steps.a.executor", "must be an executor", wrongStep({ executor: {} })],
    ["workflows.w.steps.a.mutexes[0]", "cannot be a mutex's name", wrongStep({ mutexes: [1] })],
    ["workflows.w.steps.a.afer", "not a known field", wrongStep({ afer: [] })],
    [
      "workflows.w.steps.a.mutexes",
      '"m" is held by the run itself until it ends',
      wrongStep({ mutexes: ["m"] }, { mutexes: ["m"] }),
    ],
    [
      "workflows.w.steps.a.pools.gpu",
      "asks for 1 while its run holds 2, but the limit is 2",
      wrongStep({ pools: { gpu: 1 } }, { pools: { gpu: 2 } }),
    ],
    [
      "workflows.w.steps.a.pools.tenant=acme",
      "asks for 1 while its run holds 1, but the limit is 1",
      wrongStep({ pools: { "tenant=acme": 1 } }, { pools: { "tenant=acme": 1 } }),
    ],
    [
      "workflows.w.steps.b.executor",
      'limits "workers" to 2, but step "a" limits it to the number of CPUs',
      steps((s) => {
        s.step("a", crunch);
        s.step("b", crunch, undefined, { executor: parallel({ maxWorkers: 2 }) });
      }),
    ],
    [
      "workflows.w.steps.b.executor",
      'limits "pods" to no number, but step "a" limits it to 3',
      steps((s) => {
        s.step("a", greet, undefined, { executor: kubernetes({ image: "i", maxConcurrentSteps: 3 }) });
        s.step("b", greet, undefined, { executor: kubernetes({ image: "j" }) });
      }),
    ],
  ])("%s … %s", exactly);
});

const overList = (options: object, items: unknown = [1]) =>
  steps((s) => s.each("a", items as number[], greet, options));

describe("a step over a list", () => {
  it("may have any window that is a whole number, or will be known", () => {
    expect(problemsIn(overList({ concurrency: 1, onFailure: "stop" }))).toEqual([]);
    const later = steps((s) => {
      const n = s.step("n", crunch).output;
      const list = s.each("list", [n], greet, { concurrency: n }).output;
      s.each("b", zip(list, [1], [n]), greet);
      s.each("c", entries({ n }), greet, { onFailure: "cancel" });
    });
    expect(problemsIn(later)).toEqual([]);
  });

  it.each<[string, string, object]>([
    ["concurrency", "at least 1, but is 0", overList({ concurrency: 0 })],
    ["concurrency", "but is -1", overList({ concurrency: -1 })],
    ["concurrency", "but is 1.5", overList({ concurrency: 1.5 })],
    ["concurrency", "but is NaN", overList({ concurrency: Number.NaN })],
    ["concurrency", "but is Infinity", overList({ concurrency: Number.POSITIVE_INFINITY })],
    ["concurrency", 'but is "3"', overList({ concurrency: "3" })],
    ["concurrency", "but is null", overList({ concurrency: null })],
    ["concurrency", "but is an object", overList({ concurrency: { $from: ["step", "x"] } })],
    ["onFailure", '"run-all" or "stop" or "cancel", but is "ignore"', overList({ onFailure: "ignore" })],
    ["concurency", "not a known field", overList({ concurency: 3 })],
    ["mayFail", "true or false", overList({ mayFail: 1 })],
    ["items", 'must be a list, but is "abc"', overList({}, "abc")],
    ["items", "must be a list, but is an object", overList({}, { a: 1 })],
    ["items", "must be a list, but is an object", overList({}, { $from: ["step", "x"] })],
    ["items", "must be a list, but is null", overList({}, null)],
    [
      "items",
      "must be a list, but is undefined",
      { ...steps((s) => s.each("a", undefined as never, greet)) },
    ],
    ["items[1]", "must be a list, but is 3", overList({}, zip([1], 3 as never))],
    ["items", "same length, but have 1, 2", overList({}, zip([1], [1, 2]))],
    ["items", "zip(…) has no lists", overList({}, zip(...([] as never as [[1]])))],
    ["items", "must be an object for entries(…), but is a list", overList({}, entries([1] as never))],
    [
      "items",
      "must be an object for entries(…), but is undefined",
      overList({}, entries(undefined as never)),
    ],
  ])("is refused, with exactly the problem %s … %s", (field, rule, definition) =>
    exactly(`workflows.w.steps.a.${field}`, rule, definition),
  );

  it("has options that a plain step has not", () => {
    for (const option of ["concurrency", "onFailure", "input"])
      exactly(`workflows.w.steps.a.${option}`, "not a known field", wrongStep({ [option]: undefined }));
  });
});

describe("a wrong executor or limit on runs is refused, with exactly this problem:", () => {
  it.each<[string, string, object]>([
    ["executor", 'must be an executor, but is "parallel"', { executor: "parallel" }],
    ["executor", "must be an executor, but is an object", { executor: { kind: "constructor" } }],
    ["executor.maxWorkers", "at least 1, but is 0", { executor: parallel({ maxWorkers: 0 }) }],
    ["executor.maxAsyncConcurrent", "but is -1", { executor: parallel({ maxAsyncConcurrent: -1 }) }],
    ["executor.maxWorker", "not a known field", { executor: parallel({ maxWorker: 1 } as never) }],
    ["workflows.w.executor.maxConcurrentSteps", "but is 1.5", pod({ maxConcurrentSteps: 1.5 })],
    ["workflows.w.executor.image", "must be a string, but is null", pod({ image: undefined })],
    ["workflows.w.executor.namespace", "must be a string, but is 3", pod({ namespace: 3 })],
    ["workflows.w.executor.keep", '"never" or "failed" or "always"', pod({ keep: "sometimes" })],
    ["workflows.w.executor.command", "must be a list of strings", pod({ command: "node" })],
    ["workflows.w.executor.env.A", "must be a string, but is 1", pod({ env: { A: 1 } })],
    ["workflows.w.executor.labels", "must be an object", pod({ labels: ["a"] })],
    [
      "workflows.w.executor.resources.limits.cpu",
      "must be a string",
      pod({ resources: { limits: { cpu: 1 } } }),
    ],
    ["workflows.w.executor.resources.request", "not a known field", pod({ resources: { request: {} } })],
    ["tasks.t.cpu", "true or false", { tasks: [{ id: "t", cpu: 1, run: () => 1 }] }],
    ["queues.@runs", "cannot be a queue's name", { tasks: [], queues: { "@runs": {} } }],
    ["runs", "must be an object", { runs: 3 }],
    ["runs.maximum", "not a known field", runs({ maximum: 3 })],
    ["runs.max", "at least 1, but is 0", runs({ max: 0 })],
    ["runs.max", "but is -2", runs({ max: -2 })],
    ["runs.startTimeout", "has no unit", runs({ startTimeout: 180 })],
    ["runs.onStartTimeout", '"requeue" or "fail"', runs({ onStartTimeout: "drop" })],
    ["runs.tags", "must be a list", runs({ tags: {} })],
    ["runs.tags[0]", "must be an object", tag(undefined as never)],
    ["runs.tags[0].key", "key must not be blank", tag({ key: "", limit: 1 })],
    ["runs.tags[0].key", "cannot be a tag's key", tag({ key: "env=prod", limit: 1 })],
    ["runs.tags[0].value", "cannot be a tag's value", tag({ key: "env", value: 3, limit: 1 })],
    ["runs.tags[0].limit", "at least 1, but is 0", tag({ key: "env", limit: 0 })],
    ["runs.tags[0].limit", "but is null", tag({ key: "env" })],
    ["runs.tags[0].perValu", "not a known field", tag({ key: "env", perValu: true, limit: 1 })],
    ["runs.tags[0].perValue", "true or false", tag({ key: "env", perValue: 1, limit: 1 })],
    [
      "runs.tags[0].perValue",
      'must not be true when a value is named, "prod"',
      tag({ key: "env", value: "prod", perValue: true, limit: 1 }),
    ],
    ["runs.tags[1]", "the same runs as runs.tags[0]", tag({ key: "a", limit: 1 }, { key: "a", limit: 2 })],
    [
      "runs.tags[1]",
      "the same runs as runs.tags[0]",
      tag({ key: "a", perValue: true, limit: 1 }, { key: "a", perValue: true, limit: 1 }),
    ],
  ])("%s … %s", exactly);
});

function exactly(field: string, rule: string, definition: object): void {
  expect(problemsIn(definition)).toEqual([
    { field, rule: expect.stringContaining(rule), cure: expect.stringMatching(/^[A-Z]/) },
  ]);
}
