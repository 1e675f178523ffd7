/** What a schedule does while a run that it started is not over yet. */

/** `allow`: nothing special · `skip`: no new run · `queue-one`: one run may wait behind the one in progress. */
export type Overlap = "allow" | "skip" | "queue-one";

export interface Active {
  readonly queued: boolean;
  readonly inProgress: boolean;
}

/** The fire times that get a run. For each of them, the run of the one before is already in line. */
export function withoutOverlap(
  overlap: Overlap,
  active: Active,
  times: readonly number[],
): readonly number[] {
  if (overlap === "allow") return times;
  const isTaken = active.queued || (overlap === "skip" && active.inProgress);
  return isTaken ? [] : times.slice(0, 1);
}
