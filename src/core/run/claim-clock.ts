/**
 * How long a step has waited for slots that others had. While one of the gates it waited for was paused or had no limit,
 * its clock stood still: no slot could have come free.
 */
interface Span {
  readonly from: number;
  readonly until: number;
}

/** What it waited for, and how long. */
interface Waited extends Span {
  readonly gates: readonly string[];
}

/** A change of a gate: whether it could admit anybody before, and from then on. */
export interface GateChange {
  readonly at: number;
  readonly was: boolean;
  readonly open: boolean;
}

export function countedWait(
  waits: readonly Waited[],
  changes: ReadonlyMap<string, readonly GateChange[]>,
): number {
  return waits.reduce((sum, wait) => {
    const closed = wait.gates.flatMap((gate) => closedSpans(changes.get(gate) ?? [], wait));
    return sum + (wait.until - wait.from) - covered(closed);
  }, 0);
}

/** When a gate admitted nobody, within a span. */
function closedSpans(changes: readonly GateChange[], { from, until }: Span): Span[] {
  const spans: Span[] = [];
  let since = changes[0] && !changes[0].was ? Number.NEGATIVE_INFINITY : undefined;
  for (const { at, open } of changes) {
    if (open && since !== undefined) spans.push({ from: since, until: at });
    since = open ? undefined : (since ?? at);
  }
  if (since !== undefined) spans.push({ from: since, until: Number.POSITIVE_INFINITY });
  return spans
    .map((span) => ({ from: Math.max(from, span.from), until: Math.min(until, span.until) }))
    .filter((span) => span.until > span.from);
}

/** The length of what several spans cover together. */
function covered(spans: readonly Span[]): number {
  let length = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const { from, until } of [...spans].sort((a, b) => a.from - b.from)) {
    length += Math.max(0, until - Math.max(from, reached));
    reached = Math.max(reached, until);
  }
  return length;
}
