// Random trees as an app. Each leaf says when it starts and ends, and fails if the tree says so.

import { setImmediate as turn } from "node:timers/promises";
import type { AnyTask } from "../../src/core/task/definition.ts";
import type { StepHandle } from "../../src/core/workflow/handle.ts";
import type { AnyWorkflow } from "../../src/core/workflow/plan.ts";
import type { Steps } from "../../src/core/workflow/steps.ts";
import type { AppDefinition, Reference } from "../../src/index.ts";
import { NonRetryable, task, when, workflow } from "../../src/index.ts";
import type { List, Tree, TreeNode, Waiting } from "./tree-arbitrary.ts";
import type { Sight } from "./tree-judge.ts";

/** The input of a run, and what a leaf is told. `at` is a path as nested lists, because references cannot be joined. */
export interface Place {
  readonly at: unknown;
  /** A nested list, too: whether the run fails with all its leaves, and whether the runs above do. */
  readonly doomed: unknown;
  readonly yes: true;
  readonly no: false;
}

export const START: Omit<Place, "at"> = { doomed: false, yes: true, no: false };

/** What is known where a step is written: references, or values that contain references. */
type Known = { readonly [Field in keyof Place]: unknown };

/** The event that every waiting step gets a signal of. */
export const GO = "go";

export interface Forest {
  readonly app: AppDefinition;
  readonly roots: readonly AnyWorkflow[];
  /** What was seen of each tree, in order. */
  readonly seen: readonly Sight[][];
}

export function forestOf(trees: readonly Tree[]): Forest {
  const seen = trees.map((): Sight[] => []);
  const leaf = task({
    id: "leaf",
    run: async ({ at, fails, doomed }: { at: unknown; fails: boolean; doomed: unknown }) => {
      const [tree, ...names] = [at].flat(99) as [number, ...(string | number)[]];
      const path = `/${names.join("/")}`;
      seen[tree]?.push({ path, what: "start" });
      await turn();
      seen[tree]?.push({ path, what: "end" });
      if (fails || [doomed].flat(99).includes(true)) throw new NonRetryable("as the tree says");
      return 1;
    },
  });
  const growing = new Growing(leaf);
  const roots = trees.map((tree, index) => growing.workflow(`t${index}`, tree));
  return {
    app: { name: "forest", tasks: [leaf], workflows: growing.workflows, runs: { max: 10_000 } },
    roots,
    seen,
  };
}

class Growing {
  readonly workflows: AnyWorkflow[] = [];
  readonly #leaf: AnyTask;

  constructor(leaf: AnyTask) {
    this.#leaf = leaf;
  }

  workflow(id: string, tree: Tree): AnyWorkflow {
    const made = workflow({
      id,
      failFast: tree.failFast,
      ...(tree.parallelism === null ? {} : { parallelism: tree.parallelism }),
      steps: (s, input: Reference<Place>) => {
        const { at, doomed, yes, no } = input;
        this.#steps(id, tree, s, { at, doomed, yes, no });
      },
    });
    this.workflows.push(made);
    return made;
  }

  #steps(id: string, tree: Tree, s: Steps, known: Known): void {
    const made: StepHandle<unknown>[] = [];
    for (const node of tree.nodes) {
      const after = node.needs.map(({ node: at, on }) => {
        const needed = made[at] as StepHandle<unknown>;
        return on === "succeeded" ? needed : needed[on];
      });
      const condition = node.when === null ? {} : { when: when((node.when ? known.yes : known.no) as never) };
      made.push(
        this.#step(`${id}-${node.name}`, node, s, known, { after, mayFail: node.mayFail, ...condition }),
      );
    }
  }

  #step(id: string, { name, body }: TreeNode, s: Steps, known: Known, options: object): StepHandle<unknown> {
    const at = [known.at, name];
    const { doomed, yes, no } = known;
    switch (body.is) {
      case "task":
        return s.step(name, this.#leaf, { at, fails: body.fails, doomed } as never, options);
      case "wait":
        return wait(s, name, body.wait, options);
      case "child":
        return s.run(name, this.workflow(id, body.tree), { at, doomed, yes, no } as never, options);
      case "group": {
        const { failFast, parallelism } = body.tree;
        const all = { ...options, failFast, ...(parallelism === null ? {} : { parallelism }) };
        return s.group(name, all, (g) =>
          this.#steps(id, body.tree, g, { ...known, at }),
        ) as StepHandle<unknown>;
      }
      case "items": {
        const input = (fails: unknown, index: unknown) => ({ at: [at, index], fails, doomed }) as never;
        return s.each(name, body.list.fails as boolean[], this.#leaf, {
          ...options,
          ...ofList(body.list),
          input,
        });
      }
      default: {
        const child = this.workflow(id, body.tree);
        const input = (item: unknown, index: unknown) =>
          ({ at: [at, index], doomed: [doomed, item], yes, no }) as never;
        return s.each(name, body.list.fails as boolean[], child, { ...options, ...ofList(body.list), input });
      }
    }
  }
}

const ofList = ({ window, onFailure }: List) => ({
  onFailure,
  ...(window === null ? {} : { concurrency: window }),
});

function wait(s: Steps, name: string, waiting: Waiting, options: object): StepHandle<unknown> {
  if (waiting === "sleep") return s.sleep(name, "1ms", options) as StepHandle<unknown>;
  if (waiting === "signal") return s.waitFor(name, GO, options);
  const timeout = "2ms";
  if (waiting === "never") return s.waitFor(name, "never", { ...options, timeout });
  return s.waitFor(name, "never", { ...options, timeout, otherwise: 1 });
}
