/**
 * C2, physical overlap. A stay becomes a ghost when its claim has ended, or its lease has run out, while its
 * code is still inside. Code that is not a ghost must fit within the limits together. A ghost must have been
 * frozen, cut off or told to stop by us, and must have achieved nothing: once another holder had the task, no
 * outcome is the ghost's.
 */
import type { Effect, Finding, Impairment, Visit } from "../history.ts";
import type { Sweep } from "./grants.ts";
import { impairedMs } from "./impaired.ts";
import { insideOf } from "./inside.ts";
import type { Lives } from "./lives.ts";
import { wasLost } from "./lives.ts";

export interface OverlapOf {
  readonly visits: readonly Visit[];
  readonly effects: readonly Effect[];
  readonly impairments: readonly Impairment[];
  readonly lives: Lives;
  readonly sweep: Pick<Sweep, "limitsAt">;
  readonly leaseMs: number;
}

export interface Overlap extends Finding {
  readonly ghosts: number;
  readonly beyond: number;
}

/** The kernel closes a dead process's socket at once, but the witness may notice a moment later. */
const SLACK_MS = 150;
/** The share of a lease that a holder must have lost before it may outlive its claim. */
const PART = 0.4;

export function checkOverlap(of: OverlapOf): Overlap {
  const violations: string[] = [];
  const { ends, beyond, without } = insideOf(of);
  let ghosts = 0;
  for (const visit of of.visits) {
    const end = ends.get(visit);
    if (end === undefined)
      violations.push(`${visit.name} ${visit.task} ran under epoch ${visit.epoch}, which was never granted`);
    else if (visit.to > end + SLACK_MS) {
      ghosts += 1;
      const cause = causeOf(visit, end, of);
      if (cause !== undefined) violations.push(cause);
    }
  }
  violations.push(...without);
  return {
    check: "C2 physical overlap",
    figures: `${of.visits.length} stays, ${ghosts} outlived their claim, ${beyond} overlaps beyond a limit, all by these`,
    violations,
    ghosts,
    beyond,
  };
}

/** Undefined if the ghost is explained. */
function causeOf(visit: Visit, end: number, of: OverlapOf): string | undefined {
  const { lives, leaseMs } = of;
  const life = lives.byEpoch.get(visit.epoch);
  // A busy machine may cost a lease. It never ends a claim whose lease goes on.
  const lapsed = !life || life.ended === undefined || wasLost(life) || life.expires <= life.ended;
  const impairments = of.impairments.filter(({ why }) => lapsed || why !== "noise");
  const window = { from: end - 2 * leaseMs, to: end + SLACK_MS };
  const pids = [visit.pid, visit.parent];
  const stopped = impairments.some(
    ({ pid, why, from }) =>
      pids.includes(pid) && (why === "told to stop" || why === "killed") && from <= end + SLACK_MS,
  );
  if (stopped || impairedMs(impairments, pids, window) >= leaseMs * PART) return undefined;
  const late = Math.round(visit.to - end);
  return `${visit.name} ${visit.task} (epoch ${visit.epoch}, pid ${visit.pid}) ran ${late}ms beyond its claim, and nobody had frozen or cut it off`;
}
