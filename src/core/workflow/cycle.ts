/** Finds steps that wait for each other. */
import type { GraphStep } from "./graph.ts";

type Node = Pick<GraphStep, "name" | "needs">;

/**
 * Each cycle lists its steps in the order in which they wait. If cycles overlap, some may be missing, but the
 * result is empty only if there is no cycle.
 */
export function cyclesIn(steps: readonly Node[]): string[][] {
  const stuck = stuckAmong(steps);
  const seen = new Set<string>();
  const cycles: string[][] = [];
  for (const start of stuck.keys()) {
    const walk: string[] = [];
    let at = start;
    while (!seen.has(at)) {
      seen.add(at);
      walk.push(at);
      // Every stuck step waits for another stuck step, so the walk ends at a step that it, or an earlier
      // walk, has visited.
      at = stuck.get(at) as string;
    }
    if (walk.includes(at)) cycles.push(walk.slice(walk.indexOf(at)));
  }
  return cycles;
}

/**
 * Repeatedly removes every step that can start. Returns the remaining steps, each with one of the steps it
 * waits for.
 */
function stuckAmong(steps: readonly Node[]): Map<string, string> {
  const open = new Map(steps.map(({ name }) => [name, new Set<string>()]));
  const followers = new Map<string, string[]>(steps.map(({ name }) => [name, []]));
  for (const { name, needs } of steps)
    for (const { step } of needs.filter(({ step }) => open.has(step))) {
      open.get(name)?.add(step);
      followers.get(step)?.push(name);
    }
  const free = [...open].filter(([, needs]) => needs.size === 0).map(([name]) => name);
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    open.delete(name);
    for (const follower of followers.get(name) ?? []) {
      const needs = open.get(follower);
      if (needs?.delete(name) && needs.size === 0) free.push(follower);
    }
  }
  return new Map([...open].map(([name, needs]) => [name, [...needs][0] as string]));
}
