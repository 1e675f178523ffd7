/**
 * The order of a line: queue rank (1 first), then priority (higher first), then enqueue time, then ID. IDs
 * grow with time inside a process. The order is total: two different units never tie.
 */
export interface Place {
  readonly rank: number;
  readonly priority: number;
  readonly at: number;
  readonly id: string;
}

export function compare(a: Place, b: Place): number {
  return (
    a.rank - b.rank || b.priority - a.priority || a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}

/** Returns the line in order, as a copy. */
export function inOrder<P extends Place>(line: readonly P[]): P[] {
  return [...line].sort(compare);
}
