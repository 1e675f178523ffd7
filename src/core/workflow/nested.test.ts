import { describe, expect, expectTypeOf, it, test } from "vitest";
import { checkApp } from "../app/check.ts";
import type { AppDefinition } from "../app/definition.ts";
import type { ConfigError } from "../error.ts";
import { task } from "../task/definition.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { workflow } from "./definition.ts";
import { inProcess } from "./executor.ts";
import type { RunStep, TaskStep } from "./graph.ts";
import type { EachHandle, StepHandle } from "./handle.ts";
import type { Reference } from "./reference.ts";
import { graphsOf } from "./resolve.ts";
import type { Steps } from "./steps.ts";

const load = task({ id: "load", run: async (_: { day: string }) => ({ rows: 3 }) });
const tick = task({ id: "tick", run: async () => 1 });

const ship = workflow({
  id: "ship",
  steps: (s, input: Reference<{ day: string }>) => ({ rows: s.step("load", load, input).output.rows }),
});

const of = (id: string, steps: (s: Steps) => unknown, more: object = {}) => workflow({ id, steps, ...more });

const problemsOf = (definition: Partial<AppDefinition>): string[] => {
  try {
    checkApp({ tasks: [load, tick], ...definition });
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map(({ field, rule }) => `${field}: ${rule}`);
  }
};

const graphs = (main: ReturnType<typeof of>, others: AppDefinition["workflows"] = []) =>
  graphsOf(main, checkApp({ tasks: [load, tick], workflows: [main, ...(others ?? [])] }), { cpus: 4 });

test("what a nested workflow takes and gives has its types", () => {
  workflow({
    id: "typed",
    steps: (s) => {
      expectTypeOf(s.run("a", ship, { day: "1" })).toEqualTypeOf<StepHandle<{ rows: number }>>();
      expectTypeOf(s.each("b", [{ day: "1" }], ship)).toEqualTypeOf<EachHandle<{ rows: number }>>();
      s.each("c", ["1"], ship, { input: (day) => ({ day }) });
      expectTypeOf(s.group("d", (g) => g.step("tick", tick))).toEqualTypeOf<StepHandle<number>>();
      expectTypeOf(s.run("e", ship, { day: "1" }, { detached: { wait: false } })).toEqualTypeOf<
        StepHandle<{ id: string }>
      >();
      // @ts-expect-error: the day is a text.
      s.run("f", ship, { day: 1 });
      // @ts-expect-error: the items do not fit.
      s.each("g", [1], ship);
      // @ts-expect-error: a run has no queue.
      s.run("h", ship, { day: "1" }, { queue: "mail" });
    },
  });
});

describe("a group", () => {
  it("takes each value from outside once, as its input, and waits for what its steps come after", () => {
    const { plan } = workflow({
      id: "w",
      steps: (s, input: Reference<{ day: string }>) => {
        const a = s.step("a", load, { day: "1" });
        const b = s.step("b", tick);
        s.group("g", { after: [] }, (g) => {
          g.step("x", load, { day: input.day });
          g.step("y", load, { day: input.day }, { after: [b.finished] });
          g.group("h", (h) => h.step("z", load, { day: a.output.rows as never }));
        });
      },
    });
    const [, , group] = plan.steps;
    expect(group).toMatchObject({
      name: "g",
      input: { v0: { $from: ["input", "day"] }, v1: { $from: ["step", "a", "rows"] } },
      needs: [
        { step: "b", on: "finished" },
        { step: "a", on: "succeeded" },
      ],
    });
    const inner = group?.kind === "run" ? group.calls.group : undefined;
    expect(inner?.steps.map(({ input, needs }) => [input, needs])).toEqual([
      [{ day: { $from: ["input", "v0"] } }, []],
      [{ day: { $from: ["input", "v0"] } }, []],
      [{ v0: { $from: ["input", "v1"] } }, []],
    ]);
  });

  it.each<[string, (s: Steps) => unknown, RegExp]>([
    [
      "keeps its steps to itself",
      (s) => {
        let inner: StepHandle<number> | undefined;
        s.group("g", (g) => {
          inner = g.step("x", tick);
        });
        s.step("y", load, { day: inner?.output as never });
      },
      /refers to x.output, which is inside group "g". Return it from the group/,
    ],
    [
      "is what others come after, not its steps",
      (s) => {
        let inner: StepHandle<number> | undefined;
        s.group("g", (g) => {
          g.group("h", (h) => {
            inner = h.step("x", tick);
          });
        });
        s.step("y", tick, undefined, { after: [inner as StepHandle<number>] });
      },
      /comes after step "x", which is inside group "g". Name the group/,
    ],
    [
      "gets no items of a list outside of it",
      (s) =>
        s.each("each", [1], load, {
          input: (item) => {
            s.group("g", (g) => g.step("x", load, { day: item as never }));
            return { day: "1" };
          },
        }),
      /refers to item of step "each"/,
    ],
    ["needs a function", (s) => s.group("g", {} as never), /group "g" needs a function/],
    ["is closed after its function", (s) => late(s), /workflow "w", group "g": step "x" was created after/],
    [
      "does not call tasks as workflows",
      (s) => s.run("x", tick as never, undefined as never),
      /must call a workflow/,
    ],
    [
      "does not call workflows as tasks",
      (s) => s.step("x", ship as never, undefined as never),
      /Write s.run\("x", …\)/,
    ],
  ])("%s", (_, steps, refusal) => {
    expect(() => of("w", steps)).toThrow(refusal);
  });
});

function late(s: Steps): void {
  let kept: Steps | undefined;
  s.group("g", (g) => {
    kept = g;
    g.step("y", tick);
  });
  kept?.step("x", tick);
}

describe("the graphs of a tree", () => {
  it("are numbered once, and a workflow that calls itself refers back to its number", () => {
    const self: WorkflowDefinition<void, unknown> = workflow({
      id: "self",
      steps: (s) => {
        s.step("tick", tick);
        s.run("again", () => self);
      },
    });
    const { root, nested } = graphs(self as never);
    expect((root.steps[1] as RunStep).graph).toBe(1);
    expect(nested).toHaveLength(1);
    expect((nested[0]?.steps[1] as RunStep | undefined)?.graph).toBe(1);
    // The root has the gates of all its tasks, and each run one for its children.
    expect(root.gates).toEqual([
      { name: "async", limit: -1 },
      { name: "children", limit: -1 },
    ]);
    expect(nested[0]?.gates).toEqual([{ name: "children", limit: -1 }]);
  });

  it("give a workflow that chooses an executor gates of its own", () => {
    const own = of("own", (s) => s.step("tick", tick), { executor: inProcess() });
    const main = of("main", (s) => void s.run("own", own), { parallelism: 3 });
    const { root, nested } = graphs(main, [own]);
    expect(root.gates.map(({ name }) => name)).toEqual(["nested", "leaves", "children"]);
    expect(nested[0]?.gates).toEqual([{ name: "in-process", limit: 1 }]);
    expect((nested[0]?.steps[0] as TaskStep | undefined)?.gate).toBe("in-process");
  });

  it("hold what the workflow and its step ask for, each gate once", () => {
    const held = of("held", (s) => s.step("tick", tick), { mutexes: ["m"], pools: { gpu: 1 } });
    const main = of("main", (s) => void s.run("a", held, undefined, { pools: { gpu: 2 } }));
    const app = checkApp({ tasks: [tick], workflows: [main, held], pools: { gpu: { limit: 5 } } });
    const [step] = graphsOf(main, app, { cpus: 4 }).root.steps;
    expect((step as RunStep).asks).toEqual([["pool:gpu", 3]]);
    expect(step?.locks).toEqual([{ kind: "mutex", name: "m", namespace: null, slots: 1 }]);
  });

  it("keep a detached run whole, with its place in the line of runs", () => {
    const own = of("own", (s) => s.step("tick", tick), { tags: { env: "prod" } });
    const main = of("main", (s) => void s.run("own", own, undefined, { detached: true }));
    const { root, nested } = graphs(main, [own]);
    expect(root.gates).toEqual([]);
    expect(nested[0]?.gates).toEqual([{ name: "async", limit: -1 }]);
    expect(root.steps[0]).toMatchObject({
      asks: [
        ["runs", 1],
        ["tag:env", 1],
        ["tag:env=prod", 1],
      ],
      detached: { wait: true, tags: { env: "prod" } },
    });
  });
});

describe("an app is refused if", () => {
  const locked = of("locked", (s) => s.step("tick", tick), { mutexes: ["m"], pools: { gpu: 2 } });
  const pools = { gpu: { limit: 3 } };

  it.each<[string, () => Partial<AppDefinition>, string[]]>([
    [
      "a child asks for a mutex of the run above it",
      () => {
        const main = of("main", (s) => s.group("g", (g) => void g.run("a", locked)), { mutexes: ["m"] });
        return { workflows: [main, locked], pools };
      },
      [
        'workflows.main.steps.g.steps.a.mutexes: "m" is held by the run itself until it ends, so this step could never start',
      ],
    ],
    [
      "a step in a group asks for a mutex of the group",
      () => {
        const main = of("main", (s) =>
          s.group("g", { mutexes: ["n"] }, (g) => g.step("x", tick, undefined, { mutexes: ["n"] })),
        );
        return { workflows: [main] };
      },
      [
        'workflows.main.steps.g.steps.x.mutexes: "n" is held by group "g" until it ends, so this step could never start',
      ],
    ],
    [
      "a step deep in a child asks for a mutex that the step of the child holds",
      () => {
        const low = of("low", (s) => s.step("x", tick, undefined, { mutexes: ["n"] }));
        const main = of("main", (s) => void s.run("a", low, undefined, { mutexes: ["n"] }));
        return { workflows: [main, low] };
      },
      [
        'workflows.main.steps.a.steps.x.mutexes: "n" is held by step "a" until it ends, so this step could never start',
      ],
    ],
    [
      "a workflow that calls itself holds a mutex",
      () => {
        const self: WorkflowDefinition<void, unknown> = workflow({
          id: "self",
          mutexes: ["m"],
          steps: (s) => void s.run("again", () => self),
        });
        return { workflows: [self] };
      },
      [
        'workflows.self.steps.again.mutexes: "m" is held by the run itself until it ends, so this step could never start',
      ],
    ],
    [
      "the pools of a child and of the run above it cannot fit together",
      () => {
        const main = of("main", (s) => void s.run("a", locked), { pools: { gpu: 2 } });
        return { workflows: [main, locked], pools };
      },
      [
        'workflows.main.steps.a.pools.gpu: pool "gpu": this step asks for 2 while its run holds 2, but the limit is 3, so it could never start',
      ],
    ],
    [
      "it does not list a nested workflow, or an option is wrong",
      () => {
        const main = of("main", (s) => {
          s.run("a", locked, undefined, { color: 1 } as never);
          s.group("g", { parallelism: 0 }, () => {});
        });
        return { workflows: [main] };
      },
      [
        "workflows.main.steps.a.color: is not a known field",
        'workflows.main.steps.a.workflow: there is no workflow "locked" in this app (known: main)',
        "workflows.main.steps.g.parallelism: must be a whole number of at least 1, but is 0",
        "workflows.main.steps.g.steps: the group has no steps",
      ],
    ],
  ])("%s", (_, make, problems) => {
    expect(problemsOf(make())).toEqual(problems);
  });

  it("nothing is wrong with a run that does not wait for the other one", () => {
    const main = of("main", (s) => void s.run("a", locked, undefined, { detached: { wait: false } }), {
      mutexes: ["m"],
    });
    expect(problemsOf({ workflows: [main, locked], pools })).toEqual([]);
  });
});
