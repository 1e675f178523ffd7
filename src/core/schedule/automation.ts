/**
 * When a workflow is submitted because of others. `succeeded`: each time all of them have succeeded since its last
 * submission. `newer`: when one of them has succeeded since the workflow itself did last, and no run of it is queued or
 * in progress. One success is acted on once: a run that failed is not submitted again before there is a new one.
 */
export interface Condition {
  readonly kind: "succeeded" | "newer";
  readonly of: readonly string[];
}

export interface Success {
  readonly workflow: string;
  readonly run: string;
  readonly at: number;
}

export interface Acted {
  /** Successes before this instant were before its time; not said for `newer`, which asks how things are now. */
  readonly since: number;
  /** The run of each workflow whose success was acted on last. */
  readonly seen: Readonly<Record<string, string>>;
  /** Its own last submission. */
  readonly last: { readonly run: string; readonly at: number } | null;
}

export type Successes = ReadonlyMap<string, Success>;

/** The successes to act on now; none when it is not time. Whether `newer` may act depends on its active runs, too. */
export function toActOn(
  workflow: string,
  when: Condition,
  successes: Successes,
  acted: Acted,
): readonly Success[] {
  const found = when.of.flatMap((name) => successes.get(name) ?? []);
  const isNew = ({ workflow: of, run }: Success): boolean => acted.seen[of] !== run;
  if (when.kind === "succeeded") {
    const fresh = found.filter((each) => isNew(each) && each.at >= acted.since);
    return fresh.length === when.of.length ? fresh : [];
  }
  const asOf = upToDateAsOf(successes.get(workflow), acted);
  return found.some((each) => isNew(each) && each.at > asOf) ? found : [];
}

/** A run of our own saw what there was when it was submitted; what came while it ran, it may have missed. */
function upToDateAsOf(own: Success | undefined, { last }: Acted): number {
  if (!own) return Number.NEGATIVE_INFINITY;
  return own.run === last?.run ? last.at : own.at;
}
