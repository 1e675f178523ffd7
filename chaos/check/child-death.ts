import type { Impairment, Visit } from "../history.ts";

const SLACK_MS = 150;
const RECENT_MS = 5_000;

/**
 * Whether a child process of this worker died shortly before: killed by us, or by code that ran in it. Then everything
 * that ran there is lost, also what had not come far enough to be seen by the witness.
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
