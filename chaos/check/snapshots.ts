/**
 * C11, a second check of the same promise: a reader takes a snapshot every tenth of a second. The newest
 * claim at a gate was granted under some limit, and nothing was granted there since. So the sum is still
 * within that limit, however far it was lowered meanwhile.
 */
import type { Asks, Finding, Snapshot } from "../history.ts";
import type { Sweep } from "./grants.ts";

export function checkSnapshots(
  snapshots: readonly Snapshot[],
  { limitsAt }: Pick<Sweep, "limitsAt">,
  lanes: ReadonlyMap<string, Asks>,
): Finding {
  const violations: string[] = [];
  let most = 0;
  for (const { at, claims } of snapshots) {
    most = Math.max(most, claims.length);
    const held = new Map<string, { sum: number; newest: number }>();
    for (const { epoch, lane } of claims)
      for (const [gate, slots] of Object.entries(lanes.get(lane) ?? {})) {
        const seen = held.get(gate) ?? { sum: 0, newest: 0 };
        held.set(gate, { sum: seen.sum + slots, newest: Math.max(seen.newest, epoch) });
      }
    for (const [gate, { sum, newest }] of held) {
      const limit = limitsAt.get(newest)?.[gate];
      if (limit === undefined) violations.push(`at ${at} ${gate}: epoch ${newest} was never audited`);
      else if (sum > limit) violations.push(`at ${at} ${gate} ${sum}/${limit} in one snapshot`);
    }
  }
  return {
    check: "C11 snapshots",
    figures: `${snapshots.length} snapshots, at most ${most} claims`,
    violations,
  };
}
