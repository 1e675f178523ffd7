// Holds the rows of a run against the targets.

import { percentile } from "./measure.ts";
import type { Row } from "./row.ts";
import type { Table } from "./table.ts";
import { text } from "./table.ts";
import type { Target } from "./targets.ts";

interface Reached {
  readonly value: number;
  /** The least and the most of all rounds. */
  readonly least: number;
  readonly most: number;
}

/** Targets of rows that this run did not include are left out. */
export function verdictTable(targets: readonly Target[], rows: readonly Row[]): Table {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const wanted = targets.filter(
    ({ row, over }) => byName.has(row) && (over === undefined || byName.has(over)),
  );
  return {
    head: ["target", "reached", "rounds", "floor", "aim", "verdict", "by processor time"],
    lines: wanted.map((target) => {
      const ours = byName.get(target.row) as Row;
      const theirs = target.over === undefined ? undefined : byName.get(target.over);
      const reached = reachedBy(ours, theirs);
      const [floor, aim] = [bound(target, "floor"), bound(target, "aim")];
      const unit = theirs ? " x" : "";
      return [
        target.label,
        reached ? `${text(reached.value)}${unit}` : "-",
        reached && reached.least !== reached.most ? `${text(reached.least)} to ${text(reached.most)}` : "",
        floor === undefined ? "" : `${target.atMost ? "<=" : ">="} ${text(floor)}${unit}`,
        aim === undefined ? "" : `${text(aim)}${unit}`,
        verdict(target, reached),
        theirs ? byProcessorTime(ours, theirs) : "",
      ];
    }),
  };
}

/** Rows of one round were measured at about the same time, so their ratio is taken first and its median then. */
function reachedBy(ours: Row, theirs: Row | undefined): Reached | undefined {
  if (ours.value === null || theirs?.value === null) return undefined;
  const over = theirs?.runs ?? [];
  const runs = ours.runs ?? [ours.value];
  const ratios = runs.flatMap((run, round) => {
    if (theirs === undefined) return [run];
    const other = over.length === runs.length ? over[round] : theirs.value;
    return other ? [run / other] : [];
  });
  if (ratios.length === 0) return undefined;
  return { value: percentile(ratios, 0.5), least: Math.min(...ratios), most: Math.max(...ratios) };
}

function bound({ atLeast, atMost }: Target, which: "floor" | "aim"): number | undefined {
  return (atLeast ?? atMost)?.[which];
}

function verdict(target: Target, reached: Reached | undefined): string {
  const keeps = (wanted: number | undefined): boolean | undefined => {
    if (wanted === undefined || !reached) return undefined;
    return target.atMost ? reached.value <= wanted : reached.value >= wanted;
  };
  if (!reached) return "not measured";
  const kept = keeps(bound(target, "floor"));
  if (kept === undefined) return "reported";
  if (!kept) return "MISSED";
  return keeps(bound(target, "aim")) ? "KEPT, and its aim" : "KEPT";
}

/** How many times as much processor time the other one needs for a task. A busy machine changes it less than speed. */
function byProcessorTime(ours: Row, theirs: Row): string {
  const [own, other] = [processorUs(ours), processorUs(theirs)];
  return own && other ? `${text(other / own)} x` : "";
}

export function processorUs({ cost }: Row): number | null {
  if (!cost || cost.nodeUs === null) return null;
  return cost.nodeUs + (cost.serverUs ?? 0);
}
