/**
 * What a tree must have done, computed from its data alone and without any code of the engine. Where a failure
 * stops other work, it depends on time what was reached: such a part is uncertain. Its leaves may have run,
 * at most once.
 */
import type { Body, List, Tree, TreeNode } from "./tree-arbitrary.ts";

export type NodeState = "succeeded" | "failed" | "skipped";

/** Where a leaf is: the names of the nodes above it, and the indexes of items. */
export type Path = string;

export interface Expected {
  readonly state: "succeeded" | "failed";
  /** By path. Nodes of uncertain parts are missing. */
  readonly nodes: ReadonlyMap<Path, NodeState>;
  readonly mustRun: ReadonlySet<Path>;
  readonly mayRun: ReadonlySet<Path>;
}

export function expectedOf(tree: Tree): Expected {
  const model = new Model();
  const state = model.tree(tree, "", { doomed: false, certain: true });
  return { state, nodes: model.nodes, mustRun: model.mustRun, mayRun: model.mayRun };
}

interface Scope {
  /** Every leaf fails: the item that it belongs to does. */
  readonly doomed: boolean;
  readonly certain: boolean;
}

class Model {
  readonly nodes = new Map<Path, NodeState>();
  readonly mustRun = new Set<Path>();
  readonly mayRun = new Set<Path>();

  tree(tree: Tree, at: Path, scope: Scope): "succeeded" | "failed" {
    const states = statesOf(tree, scope.doomed);
    const failed = tree.nodes.some(({ mayFail }, index) => !mayFail && states[index] === "failed");
    const certain = scope.certain && !(failed && tree.failFast);
    tree.nodes.forEach((node, index) => {
      const path = `${at}/${node.name}`;
      const state = states[index] as NodeState;
      if (certain) this.nodes.set(path, state);
      // In an uncertain part, a node that would be skipped is skipped, whatever happens first. All others may run.
      if (state !== "skipped") this.#inside(node.body, path, { ...scope, certain });
    });
    return failed ? "failed" : "succeeded";
  }

  #inside(body: Body, path: Path, scope: Scope): void {
    if (body.is === "task") this.#leaf(path, scope);
    else if (body.is === "child" || body.is === "group") this.tree(body.tree, path, scope);
    else if (body.is !== "wait") {
      const { list } = body;
      const certain = scope.certain && (list.onFailure === "run-all" || !someFail(body, scope.doomed));
      list.fails.forEach((fails, index) => {
        const item = { doomed: scope.doomed || fails, certain };
        if (body.is === "items") this.#leaf(`${path}/${index}`, item);
        else this.tree(body.tree, `${path}/${index}`, item);
      });
    }
  }

  #leaf(path: Path, { certain }: Scope): void {
    (certain ? this.mustRun : this.mayRun).add(path);
  }
}

function statesOf({ nodes }: Tree, doomed: boolean): NodeState[] {
  const states: NodeState[] = [];
  for (const node of nodes) states.push(stateOf(node, states, doomed));
  return states;
}

function stateOf({ needs, when, body }: TreeNode, before: readonly NodeState[], doomed: boolean): NodeState {
  const met = needs.every(({ node, on }) => on === "finished" || before[node] === on);
  if (!met || when === false) return "skipped";
  return fails(body, doomed) ? "failed" : "succeeded";
}

function fails(body: Body, doomed: boolean): boolean {
  switch (body.is) {
    case "task":
      return doomed || body.fails;
    case "wait":
      return body.wait === "never";
    case "child":
    case "group":
      return treeFails(body.tree, doomed);
    default:
      return someFail(body, doomed);
  }
}

function someFail(body: Body & { readonly list: List }, doomed: boolean): boolean {
  return body.list.fails.some((each) =>
    body.is === "items" ? doomed || each : body.is === "children" && treeFails(body.tree, doomed || each),
  );
}

function treeFails(tree: Tree, doomed: boolean): boolean {
  const states = statesOf(tree, doomed);
  return tree.nodes.some(({ mayFail }, index) => !mayFail && states[index] === "failed");
}
