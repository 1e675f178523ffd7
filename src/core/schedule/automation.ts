/**
 * When a workflow is submitted because of others. `succeeded`: each time all of them have succeeded since its last
 * submission. `newer`: when one of them has succeeded since the workflow itself did last, and no run of it is queued or
 * in progress. One success is acted on once: a run that failed is not submitted again before there is a new one.
 */
export interface AutomationCondition {
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
  /** The run it has submitted last. */
  readonly run: string | null;
}

type Successes = ReadonlyMap<string, Success>;

/** The successes to act on now; none when it is not time. Whether `newer` may act depends on its active runs, too. */
export function toActOn(
  workflow: string,
  when: AutomationCondition,
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

/** Of a run of our own we know what it has seen. What came since then is new, even if that run ended later. */
function upToDateAsOf(own: Success | undefined, { run }: Acted): number {
  return own === undefined || own.run === run ? Number.NEGATIVE_INFINITY : own.at;
}
