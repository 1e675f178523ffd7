/**
 * Decides when a workflow is submitted because of others. `succeeded`: each time all of them have succeeded
 * since its last submission. `newer`: when one of them has succeeded since the workflow itself last did, and
 * no run of it is queued or in progress. Each success is acted on once: a failed run is not submitted again
 * before there is a new success.
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
  /**
   * Successes before this instant do not count. Ignored for `newer`, which looks only at the current state.
   */
  readonly since: number;
  /** For each workflow, the run whose success was acted on last. */
  readonly seen: Readonly<Record<string, string>>;
  /** The run that it submitted last. */
  readonly run: string | null;
}

type Successes = ReadonlyMap<string, Success>;

/**
 * The successes to act on now, or none if it is not time. Whether `newer` may act also depends on its active
 * runs.
 */
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

/**
 * If the workflow's last success is a run of our own, we know which successes it has seen. Later ones are
 * new, even if that run ended after them.
 */
function upToDateAsOf(own: Success | undefined, { run }: Acted): number {
  return own === undefined || own.run === run ? Number.NEGATIVE_INFINITY : own.at;
}
