import type { Impairment, Visit } from "../history.ts";

const SLACK_MS = 150;
const RECENT_MS = 5_000;

/**
 * True if a child process of this worker died shortly before, killed by us or by code that ran in it. Then
 * everything in it is lost, including jobs that had not come far enough for the witness to see.
 */
export function childDied(
  { impairments, visits }: { readonly impairments: readonly Impairment[]; readonly visits: readonly Visit[] },
  pid: number,
  before: number,
): boolean {
  const isRecent = (at: number): boolean => at <= before + SLACK_MS && at > before - RECENT_MS;
  return (
    visits.some(({ parent, left, to }) => parent === pid && !left && isRecent(to)) ||
    impairments.some(({ parent, why, from }) => parent === pid && why === "killed" && isRecent(from))
  );
}
