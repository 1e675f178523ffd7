// Files that import each other, directly or through others.

import type { Module } from "./module.ts";
import type { Modules } from "./modules.ts";

/** Cycles of files that load each other at run time, each as `a > b > a`. */
export function runtimeCycles(modules: Modules): string[] {
  return rings(edges(modules, ({ typeOnly }) => !typeOnly)).map(said);
}

/** Cycles that are closed by types alone. */
export function typeCycles(modules: Modules): string[] {
  const runtime = new Set(runtimeCycles(modules));
  return rings(edges(modules, () => true))
    .map(said)
    .filter((ring) => !runtime.has(ring));
}

type Edges = ReadonlyMap<string, readonly string[]>;

function edges(modules: Modules, counts: (taken: Module["imports"][number]) => boolean): Edges {
  const product = modules.product();
  const inside = new Set(product.map(({ path }) => path));
  return new Map(
    product.map((module) => {
      const targets = module.imports
        .filter(counts)
        .flatMap(({ specifier }) => modules.target(module, specifier)?.path ?? [])
        .filter((path) => inside.has(path));
      return [module.path, [...new Set(targets)].sort()];
    }),
  );
}

/** One shortest cycle for each file that is in one. Every cycle is listed once. */
function rings(edges: Edges): string[][] {
  const found = new Map<string, string[]>();
  for (const start of edges.keys()) {
    const ring = shortestRing(edges, start);
    if (ring) found.set([...ring].sort().join("\n"), ring);
  }
  return [...found.values()];
}

/** The shortest way from a file back to itself. */
function shortestRing(edges: Edges, start: string): string[] | undefined {
  const ways = new Map<string, string[]>([[start, [start]]]);
  for (const [path, way] of ways) {
    for (const next of edges.get(path) ?? []) {
      if (next === start) return way;
      // Iterating over a map also visits entries added meanwhile, so it is a queue.
      if (!ways.has(next)) ways.set(next, [...way, next]);
    }
  }
  return undefined;
}

/** Writes the same cycle in the same way, wherever it was found. */
function said(ring: readonly string[]): string {
  const first = ring.indexOf([...ring].sort()[0] ?? "");
  const turned = [...ring.slice(first), ...ring.slice(0, first)];
  return [...turned, turned[0]].join(" > ");
}
