/** The rules for a schedule while a run that it started is not over yet. */

/** `allow`: start the run anyway · `skip`: start no run · `queue-one`: one run may wait behind the current one. */
export type Overlap = "allow" | "skip" | "queue-one";

export interface Active {
  readonly queued: boolean;
  readonly inProgress: boolean;
}

/** The fire times that get a run. Unless overlap is allowed, at most one does: its run is in line for the others. */
export function withoutOverlap(
  overlap: Overlap,
  active: Active,
  times: readonly number[],
): readonly number[] {
  if (overlap === "allow") return times;
  const isTaken = active.queued || (overlap === "skip" && active.inProgress);
  return isTaken ? [] : times.slice(0, 1);
}
