/**
 * What must not have started any more: after a failure in a scope with failFast, and after the failure of an item of a
 * list that stops. The store of these tests gives every transaction a time of its own. So a unit that was claimed at the
 * time of a failure, or later, was claimed by the transaction that recorded the failure, or after it.
 */
import type { ItemView } from "../../src/api/item-view.ts";
import type { RunView, StepView } from "../../src/api/run-view.ts";
import type { Tree, TreeNode } from "./tree-arbitrary.ts";
import type { Path } from "./tree-model.ts";

/** One run of a tree as it was seen after its end. */
export interface Seen {
  readonly run: RunView;
  readonly steps: readonly StepView[];
  /** The items of its lists, by step. */
  readonly items: ReadonlyMap<string, readonly ItemView[]>;
}

export function startedTooLate(tree: Tree, at: Path, seen: ReadonlyMap<Path, Seen>): string[] {
  const own = seen.get(at);
  if (!own) return [];
  return [
    ...(tree.failFast ? behindFailure(tree, at, own, seen) : []),
    ...tree.nodes.flatMap((node) => inside(node, `${at}/${node.name}`, own, seen)),
  ];
}

/** Units of a scope: when they started, and when they ended. */
interface Unit {
  readonly node: TreeNode;
  readonly path: Path;
  readonly startedAt: number | null;
}

function behindFailure(tree: Tree, at: Path, own: Seen, seen: ReadonlyMap<Path, Seen>): string[] {
  const failedAt = Math.min(...tree.nodes.map((node) => failureOf(node, own)));
  const units = tree.nodes.flatMap((node) => unitsOf(node, `${at}/${node.name}`, own, seen));
  return units.flatMap(({ node, path, startedAt }) => {
    const handles = node.needs.some(({ on }) => on !== "succeeded");
    return !handles && startedAt !== null && startedAt >= failedAt
      ? [`${path} started although a step had failed`]
      : [];
  });
}

/** The time at which a step that is one unit failed. A list fails with the look that follows its last item. */
function failureOf({ name, mayFail, body }: TreeNode, { steps }: Seen): number {
  const step = steps.find((each) => each.name === name);
  const isUnit = body.is === "task" || body.is === "child" || body.is === "group";
  return !mayFail && isUnit && step?.state === "failed" ? (step.finishedAt ?? Infinity) : Infinity;
}

function unitsOf(node: TreeNode, path: Path, { steps, items }: Seen, seen: ReadonlyMap<Path, Seen>): Unit[] {
  const started = (at: Path, claimedAt: number | null) => seen.get(at)?.run.startedAt ?? claimedAt;
  if (node.body.is === "items" || node.body.is === "children")
    return (items.get(node.name) ?? []).map(({ index, claimedAt }) => {
      const at = `${path}/${index}`;
      return { node, path: at, startedAt: started(at, claimedAt) };
    });
  const step = steps.find(({ name }) => name === node.name);
  return step ? [{ node, path, startedAt: started(path, step.claimedAt) }] : [];
}

function inside(node: TreeNode, path: Path, own: Seen, seen: ReadonlyMap<Path, Seen>): string[] {
  const { body } = node;
  if (body.is === "child" || body.is === "group") return startedTooLate(body.tree, path, seen);
  if (body.is !== "items" && body.is !== "children") return [];
  const below =
    body.is === "children"
      ? body.list.fails.flatMap((_, item) => startedTooLate(body.tree, `${path}/${item}`, seen))
      : [];
  return [...below, ...(body.list.onFailure === "run-all" ? [] : behindItem(node, path, own, seen))];
}

function behindItem(node: TreeNode, path: Path, own: Seen, seen: ReadonlyMap<Path, Seen>): string[] {
  const failures = (own.items.get(node.name) ?? []).filter(({ state }) => state === "failed");
  const failedAt = Math.min(...failures.map(({ finishedAt }) => finishedAt ?? Infinity));
  return unitsOf(node, path, own, seen).flatMap(({ path: item, startedAt }) =>
    startedAt !== null && startedAt >= failedAt ? [`${item} started although an item had failed`] : [],
  );
}
