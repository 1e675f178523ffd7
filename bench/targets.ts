import type { Row } from "./table.ts";
import { table } from "./table.ts";

/** A figure, or its ratio to another row's figure, and its required bound. */
export interface Target {
  label: string;
  row: string;
  over?: string;
  atLeast?: number;
  atMost?: number;
}

export function targetsTable(targets: readonly Target[], rows: readonly Row[]): string {
  const values = new Map(rows.map((row) => [row.name, row.value]));
  const lines = targets.map((target) => {
    const reached = reachedBy(target, values);
    return [target.label, reached, bound(target), verdict(target, reached)];
  });
  return table(["target", "reached", "wanted", "verdict"], lines);
}

function reachedBy(target: Target, values: ReadonlyMap<string, number | null>): number | null {
  const ours = values.get(target.row) ?? null;
  if (ours === null || target.over === undefined) return ours;
  const theirs = values.get(target.over) ?? null;
  return theirs === null || theirs === 0 ? null : ours / theirs;
}

function bound(target: Target): string {
  const times = target.over === undefined ? "" : " x";
  if (target.atLeast !== undefined) return `>= ${target.atLeast}${times}`;
  if (target.atMost !== undefined) return `<= ${target.atMost}${times}`;
  return "reported";
}

function verdict(target: Target, reached: number | null): string {
  if (reached === null) return "not measured";
  if (target.atLeast !== undefined && reached < target.atLeast) return "MISSED";
  if (target.atMost !== undefined && reached > target.atMost) return "MISSED";
  return "kept";
}
