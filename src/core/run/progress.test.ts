import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { retryPolicy } from "../task/retry.ts";
import type { Graph, GraphEach, Need, TaskStep } from "../workflow/graph.ts";
import type { Json } from "../workflow/template.ts";
import { reference } from "../workflow/template.ts";
import type { Progress, ProgressState, RunNow } from "./progress.ts";
import { progress } from "./progress.ts";

const step = (name: string, needs: readonly Need[] = [], more: Partial<TaskStep> = {}): TaskStep => ({
  name,
  task: "work",
  queue: "default",
  priority: null,
  input: null,
  each: null,
  needs,
  when: null,
  asks: [],
  gate: "async",
  retry: retryPolicy(undefined),
  timeoutMs: null,
  mayFail: false,
  pod: null,
  ...more,
});

const graph = (steps: readonly TaskStep[], more: Partial<Graph> = {}): Graph => ({
  workflow: "w",
  steps,
  output: null,
  failFast: false,
  timeoutMs: null,
  gates: [{ name: "async", limit: -1 }],
  ...more,
});

const needing = (...names: string[]): Need[] => names.map((name) => ({ step: name, on: "succeeded" }));

const now = (steps: Record<string, ProgressState> = {}, outputs: Record<string, Json> = {}): RunNow => ({
  input: null,
  steps: new Map(Object.entries(steps)),
  outputs: new Map(Object.entries(outputs)),
});

const moved = (answer: Progress) => {
  if ("wants" in answer) throw new Error(`wants ${JSON.stringify(answer.wants)}`);
  return {
    open: answer.open.map(({ step: { name } }) => name),
    skip: answer.skip.map(({ step: name }) => name),
    expand: answer.expand.map(({ name }) => name),
    finish: answer.finish,
  };
};

const DIAMOND = graph([
  step("a"),
  step("b", needing("a")),
  step("c", needing("a")),
  step("d", needing("b", "c")),
]);

describe("a step", () => {
  test("without needs is put in line at once", () => {
    expect(moved(progress(DIAMOND, now()))).toEqual({ open: ["a"], skip: [], expand: [], finish: null });
  });

  test("waits for nobody but its own needs", () => {
    const wide = graph([step("a"), step("slow"), step("b", needing("a"))]);
    expect(moved(progress(wide, now({ a: "succeeded", slow: "open" }))).open).toEqual(["b"]);
  });

  test("of which one need is open stays where it is", () => {
    const answer = moved(progress(DIAMOND, now({ a: "succeeded", b: "succeeded", c: "open" })));
    expect(answer).toEqual({ open: [], skip: [], expand: [], finish: null });
  });

  test("is skipped with all that need it as soon as one of its needs cannot be met", () => {
    const answer = progress(DIAMOND, now({ a: "succeeded", b: "failed", c: "open" }));
    expect(moved(answer)).toEqual({ open: [], skip: ["d"], expand: [], finish: null });
    expect(answer).toMatchObject({
      skip: [{ step: "d", because: { kind: "need", step: "b", was: "failed", wanted: "succeeded" } }],
    });
  });

  test("that waits for a failure runs after one, and is skipped after a success", () => {
    const mend = graph([step("a"), step("mend", [{ step: "a", on: "failed" }])]);
    expect(moved(progress(mend, now({ a: "failed" }))).open).toEqual(["mend"]);
    expect(moved(progress(mend, now({ a: "succeeded" }))).skip).toEqual(["mend"]);
  });

  test("that was cancelled counts as one that failed: its run has failed, and what handles it runs", () => {
    const mend = graph([step("a"), step("b", needing("a")), step("mend", [{ step: "a", on: "failed" }])]);
    expect(moved(progress(mend, now({ a: "cancelled" })))).toMatchObject({ skip: ["b"], open: ["mend"] });
    expect(moved(progress(mend, now({ a: "cancelled", mend: "succeeded" }))).finish).toEqual({
      state: "failed",
      steps: ["a"],
    });
  });

  test("that waits for an end runs after any, even after a skip", () => {
    const last = graph([step("a"), step("b", needing("a")), step("last", [{ step: "b", on: "finished" }])]);
    expect(moved(progress(last, now({ a: "failed" })))).toMatchObject({ skip: ["b"], open: ["last"] });
  });

  test("whose condition does not hold is skipped, and says so", () => {
    const when = { is: "true", value: reference({ step: "a", path: ["go"] }) } as const;
    const steps = graph([step("a"), step("b", needing("a"), { when })]);
    expect(progress(steps, now({ a: "succeeded" }))).toEqual({ wants: [{ by: "b", outputs: ["a"] }] });
    expect(progress(steps, now({ a: "succeeded" }, { a: { go: false } }))).toMatchObject({
      skip: [{ step: "b", because: { kind: "condition" } }],
      finish: { state: "succeeded" },
    });
    expect(moved(progress(steps, now({ a: "succeeded" }, { a: { go: true } }))).open).toEqual(["b"]);
  });

  test("has its input made of what others gave", () => {
    const input = { sum: reference({ step: "a", path: ["n"] }), run: reference({ input: true, path: [] }) };
    const steps = graph([step("a"), step("b", needing("a"), { input })]);
    const answer = progress(steps, { ...now({ a: "succeeded" }, { a: { n: 7 } }), input: "x" });
    expect(answer).toMatchObject({ open: [{ input: { sum: 7, run: "x" } }] });
  });
});

describe("a step over a list", () => {
  const from = (name: string, ...path: string[]) => reference({ step: name, path });
  const outcomesOf = (name: string, ...path: string[]) => reference({ outcomes: name, path });
  const over = (each: Partial<GraphEach>): Partial<TaskStep> => ({
    input: reference({ item: "value", path: [] }),
    each: { items: { list: [1] }, concurrency: null, onFailure: "run-all", ...each },
  });
  const MIXED: Json = [
    { state: "succeeded", result: 1 },
    { state: "failed", error: { message: "no" } },
  ];

  test("is expanded once its needs are met, and not put in line itself", () => {
    const steps = graph([step("a"), step("sync", needing("a"), over({}))]);
    expect(moved(progress(steps, now({ a: "open" })))).toMatchObject({ open: [], expand: [] });
    const ready = moved(progress(steps, now({ a: "succeeded" })));
    expect(ready).toEqual({ open: [], skip: [], expand: ["sync"], finish: null });
    expect(moved(progress(steps, now({ a: "succeeded", sync: "open" })))).toMatchObject({ expand: [] });
    expect(moved(progress(steps, now({ a: "failed" })))).toMatchObject({ skip: ["sync"], expand: [] });
  });

  test.each<[string, Partial<TaskStep>]>([
    ["its list is", over({ items: { list: from("a") } })],
    ["a list of its zip is", over({ items: { zip: [[1], from("a")] } })],
    ["its object is", over({ items: { entries: from("a", "map") } })],
    ["its window is", over({ concurrency: from("a", "n") })],
    ["its items are given", { ...over({}), input: [from("a"), reference({ item: "index", path: [] })] }],
    ["its condition looks at", { ...over({}), when: { is: "true", value: from("a") } }],
  ])("wants what %s, first", (_, more) => {
    const steps = graph([step("a"), step("sync", needing("a"), more)]);
    expect(progress(steps, now({ a: "succeeded" }))).toEqual({ wants: [{ by: "sync", outputs: ["a"] }] });
    expect(moved(progress(steps, now({ a: "succeeded" }, { a: [1] }))).expand).toEqual(["sync"]);
  });

  test("whose condition does not hold is skipped", () => {
    const when = { is: "true", value: from("a") } as const;
    const steps = graph([step("a"), step("sync", needing("a"), { ...over({}), when })]);
    expect(progress(steps, now({ a: "succeeded" }, { a: [] }))).toMatchObject({
      expand: [],
      skip: [{ step: "sync", because: { kind: "condition" } }],
    });
  });

  test("gives the results of its items as its output, in their order", () => {
    const results: Json = [
      { state: "succeeded", result: { id: 1 } },
      { state: "succeeded", result: { id: 2 } },
    ];
    const steps = graph(
      [
        step("sync", [], over({})),
        step("told", needing("sync"), { input: [from("sync"), from("sync", "1", "id")] }),
      ],
      { output: [from("sync", "length"), outcomesOf("sync", "0", "state")] },
    );
    expect(progress(steps, now({ sync: "succeeded" }))).toEqual({
      wants: [{ by: "told", outputs: ["sync"] }],
    });
    expect(progress(steps, now({ sync: "succeeded" }, { sync: results }))).toMatchObject({
      open: [{ input: [[{ id: 1 }, { id: 2 }], 2] }],
    });
    const ended = now({ sync: "succeeded", told: "succeeded" }, { sync: results });
    expect(moved(progress(steps, ended)).finish).toEqual({ state: "succeeded", result: [2, "succeeded"] });
  });

  test("that failed tells how its items ended, to a step that comes after its end or its failure", () => {
    for (const on of ["finished", "failed"] as const) {
      const steps = graph([
        step("sync", [], over({})),
        step("tell", [{ step: "sync", on }], { input: { how: outcomesOf("sync"), results: from("sync") } }),
      ]);
      expect(progress(steps, now({ sync: "failed" }))).toEqual({
        wants: [{ by: "tell", outputs: ["sync"] }],
      });
      expect(progress(steps, now({ sync: "failed" }, { sync: MIXED }))).toMatchObject({
        open: [{ step: { name: "tell" }, input: { how: MIXED, results: [1, null] } }],
      });
    }
  });

  test("that was skipped has nothing to be read", () => {
    const steps = graph([
      step("a"),
      step("sync", needing("a"), over({})),
      step("tell", [{ step: "sync", on: "finished" }], {
        input: { how: outcomesOf("sync"), all: from("sync") },
      }),
    ]);
    expect(progress(steps, now({ a: "failed" }))).toMatchObject({
      skip: [{ step: "sync" }],
      open: [{ input: { how: null, all: null } }],
    });
  });

  test("fails its run with what failed, unless it may", () => {
    const failed = (mayFail: boolean) =>
      moved(progress(graph([step("sync", [], { ...over({}), mayFail })]), now({ sync: "failed" }))).finish;
    expect(failed(false)).toEqual({ state: "failed", steps: ["sync"] });
    expect(failed(true)).toEqual({ state: "succeeded", result: null });
  });

  test("may go over the results of another", () => {
    const steps = graph([
      step("sync", [], over({})),
      step("again", needing("sync"), over({ items: { list: from("sync") } })),
    ]);
    const ready = progress(steps, now({ sync: "succeeded" }, { sync: [{ state: "succeeded", result: 7 }] }));
    expect(moved(ready).expand).toEqual(["again"]);
  });
});

describe("a step whose data cannot be read yet", () => {
  const input = reference({ step: "a", path: [] });
  const steps = graph([
    step("a"),
    step("b"),
    step("large", needing("a"), { input }),
    step("small", needing("b"), { input: reference({ step: "b", path: [] }) }),
  ]);
  const states = now({ a: "succeeded", b: "succeeded" }, { b: 1 });

  test("stays pending, and holds up no other step", () => {
    const answer = progress(steps, { ...states, later: new Set(["a"]) });
    expect(moved(answer)).toEqual({ open: ["small"], skip: [], expand: [], finish: null });
  });

  test("keeps the run from ending while its result cannot be read", () => {
    const ended = now({ a: "succeeded" });
    const one = graph([step("a")], { output: input });
    expect(moved(progress(one, { ...ended, later: new Set(["a"]) })).finish).toBeNull();
  });
});

describe("a run", () => {
  test("ends when nothing is pending or open, with what its output is made of", () => {
    const output = { of: reference({ step: "d", path: [] }) };
    const all = now({ a: "succeeded", b: "succeeded", c: "succeeded", d: "succeeded" });
    expect(progress({ ...DIAMOND, output }, all)).toEqual({ wants: [{ by: null, outputs: ["d"] }] });
    const read = { ...all, outputs: new Map([["d", 9]]) };
    expect(moved(progress({ ...DIAMOND, output }, read)).finish).toEqual({
      state: "succeeded",
      result: { of: 9 },
    });
  });

  test("has failed when a step has, and names it; other branches were done first", () => {
    const two = graph([step("a"), step("b"), step("c", needing("b"))]);
    expect(moved(progress(two, now({ a: "failed", b: "succeeded" })))).toEqual({
      open: ["c"],
      skip: [],
      expand: [],
      finish: null,
    });
    expect(moved(progress(two, now({ a: "failed", b: "succeeded", c: "succeeded" }))).finish).toEqual({
      state: "failed",
      steps: ["a"],
    });
  });

  test("with failFast starts nothing new after a failure, but what handles it", () => {
    const fast = graph(
      [step("a"), step("b"), step("c", needing("b")), step("mend", [{ step: "a", on: "failed" }])],
      {
        failFast: true,
      },
    );
    expect(moved(progress(fast, now({ a: "failed", b: "succeeded" })))).toMatchObject({
      open: ["mend"],
      skip: ["c"],
    });
  });

  test("does not fail by a step that may", () => {
    const may = graph([step("a", [], { mayFail: true }), step("b")]);
    expect(moved(progress(may, now({ a: "failed", b: "succeeded" }))).finish).toEqual({
      state: "succeeded",
      result: null,
    });
  });

  test("without steps has ended", () => {
    expect(moved(progress(graph([]), now())).finish).toEqual({ state: "succeeded", result: null });
  });
});

/** Steps that need some of the steps before them, and how each step would end. */
const cases = fc
  .array(
    fc.record({
      needs: fc.array(fc.tuple(fc.nat(30), fc.constantFrom("succeeded", "failed", "finished")), {
        maxLength: 3,
      }),
      ends: fc.constantFrom<ProgressState[]>("succeeded", "succeeded", "failed", "cancelled"),
      mayFail: fc.boolean(),
      isEach: fc.boolean(),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((list) => ({
    ends: list.map(({ ends }) => ends),
    steps: list.map(({ needs, mayFail, isEach }, index) => {
      const distinct = new Map(needs.filter(() => index > 0).map(([at, on]) => [`s${at % index}`, on]));
      return step(
        `s${index}`,
        [...distinct].map(([name, on]) => ({ step: name, on: on as Need["on"] })),
        { mayFail, each: isEach ? { items: { list: [1] }, concurrency: null, onFailure: "run-all" } : null },
      );
    }),
  }));

test("every run comes to its end once, each step is opened at most once and only when its needs are met", () => {
  const seen = { failed: 0, succeeded: 0, skipped: 0 };
  fc.assert(
    fc.property(cases, fc.boolean(), fc.infiniteStream(fc.nat()), ({ steps, ends }, failFast, picks) => {
      const run = graph(steps, { failFast });
      const states = new Map<string, ProgressState>();
      const opened: string[] = [];
      for (let round = 0; ; round += 1) {
        expect(round).toBeLessThan(200);
        const answer = progress(run, { input: null, steps: states, outputs: new Map() });
        if ("wants" in answer) throw new Error("nothing refers to an output here");
        for (const { step: name } of answer.skip) {
          expect(states.has(name)).toBe(false);
          states.set(name, "skipped");
          seen.skipped += 1;
        }
        for (const { step: each } of answer.open) expect(each.each).toBeNull();
        for (const each of answer.expand) expect(each.each).not.toBeNull();
        for (const each of [...answer.open.map(({ step: opened }) => opened), ...answer.expand]) {
          for (const { step: name, on } of each.needs) {
            const was = states.get(name);
            if (on === "succeeded") expect(was).toBe("succeeded");
            if (on === "failed") expect(["failed", "cancelled"]).toContain(was);
            expect(["pending", "open", undefined]).not.toContain(was);
          }
          opened.push(each.name);
          states.set(each.name, "open");
        }
        // A second call has nothing to add.
        const again = progress(run, { input: null, steps: states, outputs: new Map() });
        expect(again).toMatchObject({ open: [], skip: [], expand: [], finish: answer.finish });
        if (answer.finish) {
          seen[answer.finish.state] += 1;
          break;
        }
        const open = [...states].filter(([, state]) => state === "open").map(([name]) => name);
        expect(open.length).toBeGreaterThan(0);
        const ended = open[(picks.next().value as number) % open.length] as string;
        states.set(ended, ends[Number(ended.slice(1))] as ProgressState);
      }
      expect(new Set(opened).size).toBe(opened.length);
      expect(states.size).toBe(steps.length);
    }),
    { numRuns: 600 },
  );
  expect(Math.min(seen.failed, seen.succeeded, seen.skipped)).toBeGreaterThan(100);
});
