/** Compares what was seen of a tree with what its model says: what ran, how often, in which order, how many at once. */
import type { Tree } from "./tree-arbitrary.ts";
import type { Expected, Path } from "./tree-model.ts";

/** A start or an end of a leaf, in the order in which they were seen. */
export interface Sight {
  readonly path: Path;
  readonly what: "start" | "end";
}

export interface Verdict {
  readonly faults: readonly string[];
  /** The caps that were reached. */
  readonly reached: number;
}

export function judge(tree: Tree, expected: Expected, seen: readonly Sight[]): Verdict {
  const faults = [...ran(expected, seen), ...ordered(tree, "", spansOf(seen))];
  const caps = capsOf(tree, "").map((cap) => ({ ...cap, most: mostAtOnce(cap, seen) }));
  for (const { name, limit, most } of caps)
    if (most > limit) faults.push(`${name}: ${most} at once, ${limit} allowed`);
  return { faults, reached: caps.filter(({ limit, most }) => most === limit).length };
}

function ran({ mustRun, mayRun }: Expected, seen: readonly Sight[]): string[] {
  const starts = new Map<Path, number>();
  for (const { path, what } of seen) if (what === "start") starts.set(path, (starts.get(path) ?? 0) + 1);
  return [
    ...[...mustRun].filter((path) => !starts.has(path)).map((path) => `${path} did not run`),
    ...[...starts].flatMap(([path, times]) => {
      if (!mustRun.has(path) && !mayRun.has(path)) return [`${path} ran and must not`];
      return times > 1 ? [`${path} ran ${times} times`] : [];
    }),
  ];
}

interface Span {
  readonly from: number;
  readonly until: number;
}

function spansOf(seen: readonly Sight[]): ReadonlyMap<Path, Span> {
  const spans = new Map<Path, Span>();
  seen.forEach(({ path, what }, n) => {
    const known = spans.get(path);
    if (what === "start") spans.set(path, { from: Math.min(known?.from ?? n, n), until: seen.length });
    else if (known) spans.set(path, { ...known, until: n });
  });
  return spans;
}

/** From the first start to the last end of everything below a path. */
function around(path: Path, spans: ReadonlyMap<Path, Span>): Span | undefined {
  const inside = [...spans].flatMap(([each, span]) =>
    each === path || each.startsWith(`${path}/`) ? [span] : [],
  );
  if (inside.length === 0) return undefined;
  return {
    from: Math.min(...inside.map(({ from }) => from)),
    until: Math.max(...inside.map(({ until }) => until)),
  };
}

/** Nothing below a node starts before everything below each node that it needs has ended. */
function ordered(tree: Tree, at: Path, spans: ReadonlyMap<Path, Span>): string[] {
  return tree.nodes.flatMap(({ name, needs, body }) => {
    const path = `${at}/${name}`;
    const own = around(path, spans);
    const early = needs.flatMap(({ node }) => {
      const needed = `${at}/${tree.nodes[node]?.name}`;
      const before = around(needed, spans);
      return own && before && own.from < before.until ? [`${path} started before ${needed} had ended`] : [];
    });
    if (body.is === "child" || body.is === "group") return [...early, ...ordered(body.tree, path, spans)];
    if (body.is !== "children") return early;
    return [...early, ...body.list.fails.flatMap((_, item) => ordered(body.tree, `${path}/${item}`, spans))];
  });
}

interface Cap {
  readonly name: string;
  readonly limit: number;
  /** Whatever counts once: a leaf, an item, or a direct child with everything below it. */
  readonly units: readonly Path[];
}

function capsOf(tree: Tree, at: Path, kind: "workflow" | "group" = "workflow"): Cap[] {
  const { parallelism } = tree;
  const units = kind === "group" ? childrenOf(tree, at) : leavesOf(tree, at);
  const own = parallelism === null ? [] : [{ name: `${kind} ${at}`, limit: parallelism, units }];
  return [...own, ...tree.nodes.flatMap(({ name, body }) => capsOfBody(body, `${at}/${name}`))];
}

function capsOfBody(body: Tree["nodes"][number]["body"], path: Path): Cap[] {
  if (body.is === "child") return capsOf(body.tree, path);
  if (body.is === "group") return capsOf(body.tree, path, "group");
  if (body.is !== "items" && body.is !== "children") return [];
  const { fails, window } = body.list;
  const items = fails.map((_, item) => `${path}/${item}`);
  const own = window === null ? [] : [{ name: `window ${path}`, limit: window, units: items }];
  return body.is === "items" ? own : [...own, ...items.flatMap((item) => capsOf(body.tree, item))];
}

/** The units that count at the gate of a group: its steps, and each item of its lists. */
function childrenOf(tree: Tree, at: Path): Path[] {
  return tree.nodes.flatMap(({ name, body }) => {
    const path = `${at}/${name}`;
    return "list" in body ? body.list.fails.map((_, item) => `${path}/${item}`) : [path];
  });
}

function leavesOf(tree: Tree, at: Path): Path[] {
  return tree.nodes.flatMap(({ name, body }) => {
    const path = `${at}/${name}`;
    if (body.is === "task") return [path];
    if (body.is === "items") return body.list.fails.map((_, item) => `${path}/${item}`);
    if (body.is === "wait") return [];
    if (body.is !== "children") return leavesOf(body.tree, path);
    return body.list.fails.flatMap((_, item) => leavesOf(body.tree, `${path}/${item}`));
  });
}

/** A unit counts while code below it runs. Between two of its leaves it need not be seen. */
function mostAtOnce({ units }: Cap, seen: readonly Sight[]): number {
  const owner = new Map<Path, Path>();
  const ownerOf = (path: Path): Path | undefined => {
    if (!owner.has(path))
      owner.set(path, units.find((unit) => path === unit || path.startsWith(`${unit}/`)) ?? "");
    return owner.get(path) || undefined;
  };
  const running = new Map<Path, number>();
  let most = 0;
  for (const { path, what } of seen) {
    const unit = ownerOf(path);
    if (unit === undefined) continue;
    const count = (running.get(unit) ?? 0) + (what === "start" ? 1 : -1);
    if (count > 0) running.set(unit, count);
    else running.delete(unit);
    most = Math.max(most, running.size);
  }
  return most;
}
