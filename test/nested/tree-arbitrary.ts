/**
 * Random workflows as plain data: steps, lists, child workflows, groups and waits, to any depth. What such a
 * tree does is decided by its data alone, so a model can say what must have run.
 */
import fc from "fast-check";

/** The steps of a workflow, or of a group. */
export interface Tree {
  readonly nodes: readonly TreeNode[];
  readonly failFast: boolean;
  /** Of a workflow: how many leaves run at once. Of a group: how many of its direct children. */
  readonly parallelism: number | null;
}

export interface TreeNode {
  readonly name: string;
  readonly needs: readonly TreeNeed[];
  /** Null for a step without a condition, else whether its condition holds. */
  readonly when: boolean | null;
  readonly mayFail: boolean;
  readonly body: Body;
}

export interface TreeNeed {
  /** The position of an earlier node. */
  readonly node: number;
  readonly on: "succeeded" | "failed" | "finished";
}

export type Body =
  | { readonly is: "task"; readonly fails: boolean }
  | { readonly is: "items"; readonly list: List }
  | { readonly is: "child"; readonly tree: Tree }
  | { readonly is: "children"; readonly list: List; readonly tree: Tree }
  | { readonly is: "group"; readonly tree: Tree }
  | { readonly is: "wait"; readonly wait: Waiting };

export interface List {
  /** One entry per item: whether it fails. */
  readonly fails: readonly boolean[];
  readonly window: number | null;
  readonly onFailure: "run-all" | "stop" | "cancel";
}

/** `signal` is sent before the step is reached, `never` is a signal that does not come in time. */
export type Waiting = "sleep" | "signal" | "never" | "never, otherwise";

/** Mostly things succeed, so that most of a tree runs. */
const seldom = fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0);
const perhaps = <T>(one: fc.Arbitrary<T>) => fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, one);
const cap = perhaps(fc.integer({ min: 1, max: 3 }));

const list: fc.Arbitrary<List> = fc.record({
  fails: fc.array(seldom, { maxLength: 4 }),
  window: cap,
  onFailure: fc.constantFrom("run-all", "run-all", "stop", "cancel"),
});

const waiting = fc.constantFrom<Waiting>("sleep", "signal", "never", "never, otherwise");

const leaf: fc.Arbitrary<Body> = fc.oneof(
  { weight: 5, arbitrary: seldom.map((fails): Body => ({ is: "task", fails })) },
  { weight: 2, arbitrary: list.map((list): Body => ({ is: "items", list })) },
  { weight: 1, arbitrary: waiting.map((wait): Body => ({ is: "wait", wait })) },
);

function body(depth: number): fc.Arbitrary<Body> {
  if (depth === 0) return leaf;
  const tree = fc.constant(null).chain(() => treeOf(depth - 1));
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: tree.map((tree): Body => ({ is: "child", tree })) },
    { weight: 1, arbitrary: tree.map((tree): Body => ({ is: "group", tree })) },
    {
      weight: 1,
      arbitrary: fc.tuple(list, tree).map(([list, tree]): Body => ({ is: "children", list, tree })),
    },
  );
}

function treeOf(depth: number): fc.Arbitrary<Tree> {
  const node = fc.record({
    needs: fc.array(
      fc.record({
        node: fc.nat({ max: 3 }),
        on: fc.constantFrom<TreeNeed["on"]>("succeeded", "succeeded", "failed", "finished"),
      }),
      { maxLength: 2 },
    ),
    when: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.constantFrom(true, false)),
    mayFail: seldom,
    body: body(depth),
  });
  return fc.record({
    nodes: fc.array(node, { minLength: 1, maxLength: 4 }).map((nodes) => nodes.map(named)),
    failFast: seldom,
    parallelism: cap,
  });
}

/** A node needs only nodes before it, and each of them in one way. */
function named(node: Omit<TreeNode, "name">, index: number): TreeNode {
  const needs = new Map(
    node.needs.filter((need) => need.node < index).map((need) => [need.node, need] as const),
  );
  return { ...node, name: "abcd"[index] as string, needs: [...needs.values()] };
}

export const anyTree: fc.Arbitrary<Tree> = treeOf(3);
