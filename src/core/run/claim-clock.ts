/**
 * How long a step has waited for slots that others held. The clock stands still while one of the gates it
 * waited for was paused or had no limit, because then no slot could have come free.
 */
interface Span {
  readonly from: number;
  readonly until: number;
}

/** The gates it waited for, and how long. */
interface Waited extends Span {
  readonly gates: readonly string[];
}

/** A change of a gate: whether it could admit anything before, and whether it can from then on. */
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

/** The times within a span when a gate admitted nothing. */
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

/** The total length that these spans cover. Overlaps count once. */
function covered(spans: readonly Span[]): number {
  let length = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const { from, until } of [...spans].sort((a, b) => a.from - b.from)) {
    length += Math.max(0, until - Math.max(from, reached));
    reached = Math.max(reached, until);
  }
  return length;
}
